from __future__ import annotations

from assay.loadgen.schedulers.scheduler import LoadScheduler
from assay.names import Registry

SCHEDULERS: Registry[LoadScheduler] = Registry(
    "load scheduler",
    LoadScheduler,  # type: ignore[type-abstract]
    {
        "concurrent": "assay.loadgen.ConcurrentLoadScheduler",
        "constant": "assay.loadgen.ConstantLoadScheduler",
        "gamma": "assay.loadgen.GammaLoadScheduler",
        "multi_stream": "assay.loadgen.MultiStreamLoadScheduler",
        "offline": "assay.loadgen.OfflineLoadScheduler",
        "poisson": "assay.loadgen.PoissonLoadScheduler",
        "ramp": "assay.loadgen.RampLoadScheduler",
        "single_stream": "assay.loadgen.SingleStreamLoadScheduler",
        "steps": "assay.loadgen.StepsLoadScheduler",
        "trace": "assay.loadgen.TraceLoadScheduler",
    },
)
