"""Arrival schedules."""

from assay.loadgen.schedulers.closed import (
    ConcurrentLoadScheduler,
    MultiStreamLoadScheduler,
    SingleStreamLoadScheduler,
)
from assay.loadgen.schedulers.constant import ConstantLoadScheduler
from assay.loadgen.schedulers.gamma import GammaLoadScheduler
from assay.loadgen.schedulers.offline import OfflineLoadScheduler
from assay.loadgen.schedulers.poisson import PoissonLoadScheduler
from assay.loadgen.schedulers.ramp import RampLoadScheduler
from assay.loadgen.schedulers.scheduler import LoadScheduler
from assay.loadgen.schedulers.steps import StepsLoadScheduler
from assay.loadgen.schedulers.trace import TraceLoadScheduler

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
