from __future__ import annotations

import os
import platform
import socket
from pathlib import Path

from assay.capture.nvidia import nvidia

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
