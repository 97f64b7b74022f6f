"""Load generation: queries to a graph of stages at the times a schedule says, and how they fared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.exports import exports

if TYPE_CHECKING:
    from assay.loadgen.colocation.policies.control import Control
    from assay.loadgen.colocation.policies.pipeline_state import PipelineState
    from assay.loadgen.colocation.policies.policy import Policy
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
        "Control": "colocation.policies.control",
        "GammaLoadScheduler": "schedulers",
        "Graph": "graph.graph",
        "LoadGen": "loadgen",
        "LoadResult": "result",
        "LoadScheduler": "schedulers",
        "MultiStreamLoadScheduler": "schedulers",
        "Node": "graph.node",
        "Objective": "latency.objective",
        "OfflineLoadScheduler": "schedulers",
        "PipelineState": "colocation.policies.pipeline_state",
        "PoissonLoadScheduler": "schedulers",
        "Policy": "colocation.policies.policy",
        "RampLoadScheduler": "schedulers",
        "SingleStreamLoadScheduler": "schedulers",
        "SourceSamples": "source_samples",
        "StepsLoadScheduler": "schedulers",
        "Stop": "stop",
        "TraceLoadScheduler": "schedulers",
        "Warmup": "stop",
    },
)
