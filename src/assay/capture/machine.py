from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path


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


def os_name() -> str:
    for line in _lines("/etc/os-release"):
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return platform.system()


def container_image() -> str | None:
    """What the image's maker or runtime says; inside a container without a name, just that."""
    named = os.environ.get("ASSAY_CONTAINER_IMAGE") or os.environ.get("CONTAINER_IMAGE")
    if named:
        return named
    return "unnamed container" if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists() else None


@cache
def gpus() -> tuple[str, ...]:
    """Names, by NVML; none where there is no driver or no library."""
    try:
        import pynvml
    except ImportError:
        return ()
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return ()
    names = [
        pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(at)) for at in range(pynvml.nvmlDeviceGetCount())
    ]
    pynvml.nvmlShutdown()
    return tuple(name.decode() if isinstance(name, bytes) else str(name) for name in names)


@cache
def gpu_driver() -> str | None:
    """Its version, by NVML; None where there is no driver or no library."""
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
        version = pynvml.nvmlSystemGetDriverVersion()
        pynvml.nvmlShutdown()
    except pynvml.NVMLError:
        return None
    return version.decode() if isinstance(version, bytes) else str(version)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
