"""Arrival schedules."""

from assay.loadgen.schedulers.arrivals import (
    ConcurrentLoadScheduler,
    ConstantLoadScheduler,
    GammaLoadScheduler,
    MultiStreamLoadScheduler,
    OfflineLoadScheduler,
    PoissonLoadScheduler,
    RampLoadScheduler,
    SingleStreamLoadScheduler,
    StepsLoadScheduler,
    TraceLoadScheduler,
)
from assay.loadgen.schedulers.scheduler import LoadScheduler

__all__ = [
    "ConcurrentLoadScheduler",
    "ConstantLoadScheduler",
    "GammaLoadScheduler",
    "LoadScheduler",
    "MultiStreamLoadScheduler",
    "OfflineLoadScheduler",
    "PoissonLoadScheduler",
    "RampLoadScheduler",
    "SingleStreamLoadScheduler",
    "StepsLoadScheduler",
    "TraceLoadScheduler",
]
