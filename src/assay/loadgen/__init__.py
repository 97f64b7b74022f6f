"""Load generation: queries to a graph of stages at the times a schedule says, and how they fared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.exports import exports

if TYPE_CHECKING:
    from assay.loadgen.colocation.policy import Control, PipelineState, Policy
    from assay.loadgen.graph import Graph, Node, SourceSamples
    from assay.loadgen.latency import Objective
    from assay.loadgen.load_result import LoadResult
    from assay.loadgen.loadgen import LoadGen
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
    from assay.loadgen.stop import Stop, Warmup

__all__ = [
    "ConcurrentLoadScheduler",
    "ConstantLoadScheduler",
    "Control",
    "GammaLoadScheduler",
    "Graph",
    "LoadGen",
    "LoadResult",
    "LoadScheduler",
    "MultiStreamLoadScheduler",
    "Node",
    "Objective",
    "OfflineLoadScheduler",
    "PipelineState",
    "PoissonLoadScheduler",
    "Policy",
    "RampLoadScheduler",
    "SingleStreamLoadScheduler",
    "SourceSamples",
    "StepsLoadScheduler",
    "Stop",
    "TraceLoadScheduler",
    "Warmup",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "ConcurrentLoadScheduler": "schedulers",
        "ConstantLoadScheduler": "schedulers",
        "Control": "colocation.policy",
        "GammaLoadScheduler": "schedulers",
        "Graph": "graph",
        "LoadGen": "loadgen",
        "LoadResult": "load_result",
        "LoadScheduler": "schedulers",
        "MultiStreamLoadScheduler": "schedulers",
        "Node": "graph",
        "Objective": "latency",
        "OfflineLoadScheduler": "schedulers",
        "PipelineState": "colocation.policy",
        "PoissonLoadScheduler": "schedulers",
        "Policy": "colocation.policy",
        "RampLoadScheduler": "schedulers",
        "SingleStreamLoadScheduler": "schedulers",
        "SourceSamples": "graph",
        "StepsLoadScheduler": "schedulers",
        "Stop": "stop",
        "TraceLoadScheduler": "schedulers",
        "Warmup": "stop",
    },
)
