from __future__ import annotations

import os
import sys
from pathlib import Path

import assay
from assay.loadgen.colocation.accelerators.device import PipelineDevice
from assay.loadgen.colocation.accelerators.mps import SHARE
from assay.loadgen.colocation.config import PipelineConfig


def pipeline_environment(config: PipelineConfig, device: PipelineDevice) -> dict[str, str]:
    """Environment of a pipeline's process: Assay's own, the device it was given, then what its `env` says."""
    # PYTHONPATH: the user's own first, then Assay's package, then all folders that this process imports from.
    given = [entry for entry in config.env.get("PYTHONPATH", "").split(os.pathsep) if entry]
    path = [*given, str(Path(assay.__file__).parent.parent), *(entry for entry in sys.path if entry)]
    share = {} if config.mps_share is None else {SHARE: str(config.mps_share)}
    return {
        **os.environ,
        **device.environment,
        **share,
        **config.env,
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(path)),
    }
