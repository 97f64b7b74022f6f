from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.errors import MissingExtra
from assay.loadgen.colocation.accelerators.device import PipelineDevice
from assay.loadgen.colocation.usage_window import UsageWindow
from assay.loadgen.result import LoadResult
from assay.process.gpus.gpu_watch_spec import GpuWatchSpec

_FEW_SAMPLES = 10
COUNTED = {
    "tokens": ("answer_tokens", "trained_tokens"),
    "samples": ("rows", "trained_images", "inferred_images"),
}
"""Figures of stages that count tokens and samples; those of all stages of a pipeline are summed."""


def gpu_watch(device: PipelineDevice) -> GpuWatchSpec | None:
    """What to sample of GPUs beside the process of a pipeline; None without a GPU or without its library."""
    return GpuWatchSpec.find(device.gpus, device.certain)


@dataclass(frozen=True)
class GpuUsage:
    """What a pipeline's processes used of GPUs while it was measured. None is what they do not tell.

    Power and energy are those of the whole GPUs, whoever else used them.
    """

    names: tuple[str, ...] = ()
    uuids: tuple[str, ...] = ()
    mean_pct: float | None = None
    """Share of the processors' time that its own processes took; 100 is one whole GPU."""
    mean_device_pct: float | None = None
    """Share of the time in which anybody used them."""
    peak_memory_mb: float | None = None
    mean_power_w: float | None = None
    energy_j: float | None = None
    energy_source: str = ""
    """`counter`, `power` (integrated over time), or both where GPUs differ."""
    joules_per_query: float | None = None
    joules_per_token: float | None = None
    joules_per_sample: float | None = None
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {key: list(value) if isinstance(value, tuple) else value for key, value in vars(self).items()}

    def beside(self, others: Mapping[str, GpuUsage]) -> GpuUsage:
        """The usage with a note about the pipelines that used the same GPUs."""
        sharing = [name for name, other in others.items() if set(self.uuids) & set(other.uuids)]
        if not sharing or self.energy_j is None:
            return self
        note = f"its GPU was shared with {', '.join(sharing)}: power and energy are the whole GPU's, of all of them"
        return replace(self, notes=(*self.notes, note))


def read_gpu_usage(
    device: PipelineDevice, usage: Mapping[str, Any], samples: Path, result: LoadResult
) -> GpuUsage | None:
    """GPU usage of a pipeline; None where it used no GPU. `usage`: the supervisor's report; `samples`: its
    usage.csv."""
    if device.certain and "gpus" not in usage and gpu_watch(device) is None:
        return GpuUsage(notes=(f"nothing is known of the GPU: {MissingExtra('pynvml', 'gpu')}",))
    gpus: Sequence[Mapping[str, Any]] = usage.get("gpus", ())
    problem = str(usage.get("gpu_problem", ""))
    if not gpus:
        return GpuUsage(notes=(f"nothing is known of the GPU: {problem}",)) if problem and device.certain else None
    begin = result.started_at / 1e9 - float(usage["sampled_from_s"])
    window = UsageWindow.read(samples, begin, begin + result.duration)
    end = usage.get("gpu_end")
    last = None if end is None else (end[0] - float(usage["sampled_from_s"]), end[1])
    energy = window.growth("gpu_energy_j", last)
    reports = [metric for report in result.reports.values() for metric in report.metrics]
    counts = {
        what: sum(m.number or 0.0 for m in reports if m.name.rpartition(".")[2] in names)
        for what, names in COUNTED.items()
    }
    return GpuUsage(
        names=tuple(str(gpu["name"]) for gpu in gpus),
        uuids=tuple(str(gpu["uuid"]) for gpu in gpus),
        mean_pct=window.mean("gpu_pct"),
        mean_device_pct=window.mean("gpu_device_pct"),
        peak_memory_mb=window.highest("gpu_memory_mb"),
        mean_power_w=window.mean("gpu_power_w"),
        energy_j=energy,
        energy_source="+".join(sorted({str(gpu["energy_source"]) for gpu in gpus if gpu["energy_source"]})),
        joules_per_query=_per(energy, result.completed),
        joules_per_token=_per(energy, counts["tokens"]),
        joules_per_sample=_per(energy, counts["samples"]),
        notes=tuple(_notes(gpus, window.count, energy, problem)),
    )


def _notes(gpus: Sequence[Mapping[str, Any]], samples: int, energy: float | None, problem: str) -> list[str]:
    found = [problem] if problem else []
    for gpu in gpus:
        if gpu["silent"]:
            found.append(f"{gpu['name']} does not tell {', '.join(gpu['silent'])}")
        if energy is not None and gpu["energy_source"] == "power":
            found.append(f"{gpu['name']} has no energy counter: its energy is its power over time")
        if energy is not None and gpu["part"]:
            found.append(f"power and energy are those of the whole {gpu['name']}, not of the part that was used")
    if energy is not None and samples < _FEW_SAMPLES:
        found.append(f"energy rests on {samples} samples only: run for longer")
    return list(dict.fromkeys(found))


def _per(energy: float | None, count: float) -> float | None:
    return energy / count if energy is not None and count else None
