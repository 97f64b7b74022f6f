"""Six suites that measure a store of model weights, and what is needed to write another one.

from assay.benchmarks.weights import BenchmarkOrchestrator, BenchmarkProfile, BenchmarkSuite
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.benchmarks.weights.orchestrator import BenchmarkOrchestrator
    from assay.benchmarks.weights.profile import BenchmarkProfile
    from assay.benchmarks.weights.suite import BenchmarkSuite

__all__ = ["BenchmarkOrchestrator", "BenchmarkProfile", "BenchmarkSuite"]

_PUBLIC = {
    "BenchmarkOrchestrator": "assay.benchmarks.weights.orchestrator",
    "BenchmarkProfile": "assay.benchmarks.weights.profile",
    "BenchmarkSuite": "assay.benchmarks.weights.suite",
}


def __getattr__(name: str) -> Any:
    """Loaded when asked for: probes in fresh processes must start small."""
    if name in _PUBLIC:
        from importlib import import_module

        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'assay.benchmarks.weights' has no attribute {name!r}")
