"""GPUs and their driver, as NVML tells of them: the driver's own library, called through nvidia-ml-py."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

MODULE = Path("/proc/driver/nvidia/version")
"""What the kernel's module says of itself, whatever is installed in Python."""
_VERSION = re.compile(r"Kernel Module\s+(?:for \S+\s+)?(\d+(?:\.\d+)+)")


@dataclass(frozen=True)
class Nvidia:
    gpus: tuple[str, ...] = ()
    """Names."""
    driver: str | None = None
    """Version."""
    cuda: str | None = None
    """The newest version of CUDA that the driver runs, such as 12.4; what a program was built with is its package's."""
    problem: str = ""
    """Why nothing, or not all, is known."""


@cache
def nvidia() -> Nvidia:
    try:
        import pynvml
    except ImportError:
        return Nvidia(driver=_of_module(), problem="nvidia-ml-py is not installed: pip install 'assay-bench[gpu]'")
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return Nvidia(driver=_of_module(), problem=f"NVML: {error}")
    try:
        driver = _text(pynvml.nvmlSystemGetDriverVersion())
        cuda = _format_version(pynvml.nvmlSystemGetCudaDriverVersion())
        handles = [pynvml.nvmlDeviceGetHandleByIndex(at) for at in range(pynvml.nvmlDeviceGetCount())]
        return Nvidia(tuple(_text(pynvml.nvmlDeviceGetName(handle)) for handle in handles), driver, cuda)
    except pynvml.NVMLError as error:
        return Nvidia(driver=_of_module(), problem=f"NVML: {error}")
    finally:
        pynvml.nvmlShutdown()


def _text(said: str | bytes) -> str:
    return said.decode(errors="replace") if isinstance(said, bytes) else str(said)


def _format_version(version: int) -> str:
    """12040 is 12.4."""
    return f"{version // 1000}.{version % 1000 // 10}"


def _of_module() -> str | None:
    try:
        found = _VERSION.search(MODULE.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
    return found[1] if found else None
