"""GPUs and their driver, as NVML tells of them: the driver's own library, called through nvidia-ml-py."""

from __future__ import annotations

import os
import platform
import re
import socket
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


_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def cpu_model() -> str:
    for line in _lines("/proc/cpuinfo"):
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "Model", "cpu model"):
            return value.strip()
    return platform.machine()


def cores() -> int:
    """Those this process may use, which a container can make fewer than the machine has."""
    return len(os.sched_getaffinity(0))


def memory_mb() -> int:
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) // 1024
    return 0


def usable_memory_bytes() -> int:
    """Memory of this machine, or of the container that this process is in where that has less."""
    limits = [line for path in _CGROUP_LIMITS for line in _lines(path)[:1] if line.isdigit()]
    return min(int(limit) for limit in (*limits, str(memory_mb() << 20)))


def os_name() -> str:
    for line in _lines("/etc/os-release"):
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return platform.system()


def host_name() -> str:
    """Name of this machine; in a container that of its host, if the start script said it: its own is another each
    time."""
    return os.environ.get("HOST_HOSTNAME") or socket.gethostname()


def container_image() -> str | None:
    """What the image's maker or start script says, with its digest; inside a container without a name, just that."""
    named = os.environ.get("ASSAY_CONTAINER_IMAGE") or os.environ.get("CONTAINER_IMAGE")
    digest = os.environ.get("IMAGE_DIGEST")
    if digest:
        return f"{named}@{digest}" if named and "@" not in digest else digest
    if named:
        return named
    return "unnamed container" if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists() else None


def gpus() -> tuple[str, ...]:
    """Names, by NVML; none where there is no driver or no library."""
    return nvidia().gpus


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
