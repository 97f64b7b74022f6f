from __future__ import annotations

import warnings
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from assay.benchmarks.weights.suite import BenchmarkSuite
from assay.errors import UsageError
from assay.fallback.loading import loading_user_code
from assay.names import Registry, look_in

GROUP = "assay.weight_suites"
BUNDLED: Registry[BenchmarkSuite] = Registry(
    "suite",
    BenchmarkSuite,  # type: ignore[type-abstract]
    {
        "compression": "assay.benchmarks.weights.compression:CompressionSuite",
        "performance": "assay.benchmarks.weights.performance:PerformanceSuite",
        "clustering": "assay.benchmarks.weights.clustering:ClusteringSuite",
        "scalability": "assay.benchmarks.weights.scalability:ScalabilitySuite",
        "memory": "assay.benchmarks.weights.memory:MemorySuite",
        "accuracy": "assay.benchmarks.weights.accuracy:AccuracySuite",
    },
)


def load_suites() -> dict[str, BenchmarkSuite]:
    """The six bundled suites, then those of installed packages; one that does not load warns and is left out."""
    suites: dict[str, BenchmarkSuite] = {}
    for name in BUNDLED:
        bundled: Any = BUNDLED.find(name)
        suites[name] = bundled()
    for found in entry_points(group=GROUP):
        try:
            with loading_user_code():
                suite = found.load()()
            if not isinstance(suite, BenchmarkSuite):
                raise TypeError("it is no BenchmarkSuite")
            suites[found.name] = suite
        except Exception as error:  # noqa: BLE001  whatever another package raises on import
            warnings.warn(f"weight suite {found.name!r} ({found.value}) does not load: {error}", stacklevel=2)
    return suites


def own_suite(path: str) -> BenchmarkSuite:
    """One of the user's own by a dotted path, from the folder that Assay is started in or installed."""
    look_in(Path.cwd())
    found: Any = BUNDLED.find(path)
    try:
        with loading_user_code():
            made: BenchmarkSuite = found()
    except (TypeError, ValueError) as error:
        raise UsageError(f"suite {path} cannot be made: {error}") from None
    return made
