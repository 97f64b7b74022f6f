"""Load generation: queries to a graph of stages at the times a schedule says, and how they fared."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.loadgen.graph.graph import Graph
    from assay.loadgen.graph.node import Node
    from assay.loadgen.latency.objective import Objective
    from assay.loadgen.loadgen import LoadGen
    from assay.loadgen.result import LoadResult
    from assay.loadgen.schedulers import (
        ConcurrentLoadScheduler,
        ConstantLoadScheduler,
        GammaLoadScheduler,
        LoadScheduler,
        MultiStreamLoadScheduler,
        OfflineLoadScheduler,
        PoissonLoadScheduler,
        RampLoadScheduler,
        SingleStreamLoadScheduler,
        StepsLoadScheduler,
        TraceLoadScheduler,
    )
    from assay.loadgen.source_samples import SourceSamples
    from assay.loadgen.stop import Stop, Warmup

_PUBLIC = {
    "Graph": "graph.graph",
    "LoadGen": "loadgen",
    "LoadResult": "result",
    "Node": "graph.node",
    "Objective": "latency.objective",
    "SourceSamples": "source_samples",
    "Stop": "stop",
    "Warmup": "stop",
}

__all__ = [
    "ConcurrentLoadScheduler",
    "ConstantLoadScheduler",
    "GammaLoadScheduler",
    "Graph",
    "LoadGen",
    "LoadResult",
    "LoadScheduler",
    "MultiStreamLoadScheduler",
    "Node",
    "Objective",
    "OfflineLoadScheduler",
    "PoissonLoadScheduler",
    "RampLoadScheduler",
    "SingleStreamLoadScheduler",
    "SourceSamples",
    "StepsLoadScheduler",
    "Stop",
    "TraceLoadScheduler",
    "Warmup",
]


def __getattr__(name: str) -> Any:
    """Loaded when asked for: the sender process imports this package and must start without numpy."""
    if name in __all__:
        return getattr(import_module(f"assay.loadgen.{_PUBLIC.get(name, 'schedulers')}"), name)
    raise AttributeError(f"module 'assay.loadgen' has no attribute {name!r}")
