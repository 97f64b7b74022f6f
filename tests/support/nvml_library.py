"""A stand-in for the NVIDIA driver's library that the real nvidia-ml-py loads: two GPUs, one of them cut into parts."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")
FIRST = "GPU-11111111-2222-3333-4444-555555555555"
SECOND = "GPU-66666666-2222-3333-4444-555555555555"
PARTS = ("MIG-aaaaaaaa-2222-3333-4444-555555555555", "MIG-bbbbbbbb-2222-3333-4444-555555555555")


def built(folder: Path) -> dict[str, str]:
    """The variables by which a process finds it; `NVML_PROCESSES` is a file that is not there yet."""
    library = folder / "libnvidia-ml.so.1"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(SOURCE)], check=True)
    hidden = {name: value for name, value in os.environ.items() if not name.startswith("CUDA_")}
    return {**hidden, "LD_LIBRARY_PATH": str(folder), "NVML_PROCESSES": str(folder / "processes")}
