from __future__ import annotations

import warnings
from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import entry_points

from assay.benchmarks.weights.suite import BenchmarkSuite
from assay.errors import UsageError
from assay.names import unknown

GROUP = "assay.weight_suites"
BUNDLED = {
    "compression": "CompressionSuite",
    "performance": "PerformanceSuite",
    "clustering": "ClusteringSuite",
    "scalability": "ScalabilitySuite",
    "memory": "MemorySuite",
    "accuracy": "AccuracySuite",
}


def load_suites() -> dict[str, BenchmarkSuite]:
    """The six bundled suites, then those of installed packages; one that does not load warns and is left out."""
    suites: dict[str, BenchmarkSuite] = {}
    for name, class_name in BUNDLED.items():
        suites[name] = getattr(import_module(f"assay.benchmarks.weights.{name}"), class_name)()
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
