from __future__ import annotations

import warnings
from collections.abc import Iterable
from importlib.metadata import entry_points
from typing import Any

from assay.benchmarks.weights.suite import BenchmarkSuite
from assay.errors import UsageError
from assay.names import Registry, unknown

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
            suite = found.load()()
        except Exception as error:  # noqa: BLE001  whatever another package raises on import
            warnings.warn(f"weight suite {found.name!r} ({found.value}) does not load: {error}", stacklevel=2)
            continue
        if not isinstance(suite, BenchmarkSuite):
            warnings.warn(f"weight suite {found.name!r} ({found.value}) is no BenchmarkSuite", stacklevel=2)
            continue
        suites[found.name] = suite
    return suites


def unknown_suite(name: str, known: Iterable[str]) -> UsageError:
    return UsageError(unknown("suite", name, known))
