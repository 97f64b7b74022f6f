"""Six suites that measure a store of model weights, and what is needed to write another one.

from assay.benchmarks.weights import BenchmarkOrchestrator, BenchmarkProfile, BenchmarkSuite
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.exports import exports

if TYPE_CHECKING:
    from assay.benchmarks.weights.orchestrator import BenchmarkOrchestrator
    from assay.benchmarks.weights.profile import BenchmarkProfile
    from assay.benchmarks.weights.suite import BenchmarkSuite

__all__ = [
    "BenchmarkOrchestrator",
    "BenchmarkProfile",
    "BenchmarkSuite",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "BenchmarkOrchestrator": "orchestrator",
        "BenchmarkProfile": "profile",
        "BenchmarkSuite": "suite",
    },
)
