from __future__ import annotations

from typing import Literal

from assay.process.gpus.gpu import GpuReading, Gpus, NoGpu


def gpu_memory_warnings(threshold: float | None, when: Literal["before", "after"]) -> list[str]:
    """Warnings, one for each GPU that has more of its memory in use than the share `threshold`; None asks for none."""
    if threshold is None:
        return []
    try:
        with Gpus() as gpus:
            readings = gpus.readings()
    except NoGpu:
        return []  # `preflight` says so once, for all entries
    busy = [reading for reading in readings if reading.memory_share is not None and reading.memory_share > threshold]
    return [_warning(reading, threshold, when) for reading in busy]


def _warning(reading: GpuReading, threshold: float, when: Literal["before", "after"]) -> str:
    used = f"{reading.memory_used_mb:.0f} of {reading.memory_total_mb:.0f} MB"
    verb = "was in use before the run" if when == "before" else "was still in use after the run"
    return (
        f"GPU {reading.gpu}: {reading.memory_share:.1%} of its memory ({used}) {verb}, "
        f"more than gpu_mem_use_warning_threshold {threshold:.1%}"
    )
