"""A share of a GPU's processors by CUDA's Multi-Process Service (docs.nvidia.com/deploy/mps)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

SHARE = "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"
_FOLDER = "CUDA_MPS_PIPE_DIRECTORY"


def mps_problem(environment: Mapping[str, str]) -> str:
    """Why no share can be had, or nothing: without its daemon CUDA ignores the variable and gives all of the GPU."""
    folder = Path(environment.get(_FOLDER) or os.environ.get(_FOLDER) or "/tmp/nvidia-mps")
    if (folder / "control").exists():
        return ""
    return (
        f"no MPS daemon is running (there is no {folder / 'control'}): "
        "start it with `nvidia-cuda-mps-control -d`, or leave `mps_share` out"
    )
