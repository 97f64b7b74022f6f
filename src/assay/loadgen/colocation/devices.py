"""A share of a GPU's processors by CUDA's Multi-Process Service (docs.nvidia.com/deploy/mps)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from assay.errors import MissingExtra, UsageError
from assay.loadgen.colocation.overlap import UsageWindow
from assay.loadgen.load_result import LoadResult
from assay.names import list_names
from assay.process.gpus import GpuDevice, NoGpu, gpu_devices
from assay.process.spec import GpuWatchSpec

NODES = Path("/dev")


@dataclass(frozen=True)
class GpuInventory:
    """The GPUs of this machine, from the driver's library or, where that cannot be used, from its device files."""

    names: tuple[str, ...]
    """Their numbers."""
    devices: Sequence[GpuDevice] = ()
    problem: str = ""
    """Why no more than their numbers is known."""

    @classmethod
    def found(cls) -> Self:
        try:
            devices = gpu_devices()
        except NoGpu as error:
            nodes = [path.name.removeprefix("nvidia") for path in NODES.glob("nvidia[0-9]*")]
            return cls(tuple(sorted(nodes, key=lambda name: (len(name), name))), (), str(error))
        return cls(tuple(str(device.index) for device in devices), devices)

    def knows(self, uuid: str) -> bool:
        """Whether a GPU has this UUID, or one that begins so, as CUDA takes it. True where no UUIDs are known: CUDA
        will say."""
        known = [name for device in self.devices for name in (device.uuid, *(part.uuid for part in device.parts))]
        return bool(self.problem) or uuid.startswith("MIG-GPU-") or any(name.startswith(uuid) for name in known)

    def part(self, gpu: str, gpu_instance: int, compute_instance: int) -> str:
        """The UUID of a MIG part, or nothing."""
        parts = (part for device in self._find_devices(gpu) for part in device.parts)
        wanted = (gpu_instance, compute_instance)
        return next((part.uuid for part in parts if (part.gpu_instance, part.compute_instance) == wanted), "")

    def parts_text(self, gpu: str) -> str:
        parts = [
            f"{part.gpu_instance}/{part.compute_instance}"
            for device in self._find_devices(gpu)
            for part in device.parts
        ]
        return f"its parts are {list_names(parts)}" if parts else "that GPU is not cut into parts"

    def _find_devices(self, gpu: str) -> list[GpuDevice]:
        return [
            one for one in self.devices if gpu == str(one.index) or (not gpu.isdigit() and one.uuid.startswith(gpu))
        ]


VISIBLE = "CUDA_VISIBLE_DEVICES"
ORDER = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
"""Variable that has CUDA number GPUs as nvidia-smi does; by itself it puts the fastest one first."""
_FORM = re.compile(r"cuda(?::(?P<at>\d+)(?:/(?P<gpu>\d+)/(?P<compute>\d+))?)?|(?P<uuid>(?:GPU|MIG)-\S+)")


class NoSuchDevice(UsageError):
    """Says why a pipeline cannot have the device it asks for."""


@dataclass(frozen=True)
class PipelineDevice:
    """What the process of a pipeline sees of GPUs."""

    environment: Mapping[str, str]
    for_stages: str
    """Name by which its stages reach the device: the only GPU that a process sees is its first."""
    gpus: tuple[str, ...] = ()
    """GPUs that it may use, as CUDA_VISIBLE_DEVICES names them."""
    certain: bool = False
    """Whether it was given these GPUs; otherwise its stages may use some of them, or none."""


def find_device(asked: str | None) -> PipelineDevice:
    """`cpu`, `cuda`, `cuda:N`, `cuda:N/G/C` (a MIG part), `GPU-…`, `MIG-…`; None leaves it to the stages.

    `N` counts the GPUs that Assay itself may see. Raises NoSuchDevice.
    """
    if asked == "cpu":
        return PipelineDevice({VISIBLE: ""}, "cpu")
    inventory = GpuInventory.found()
    hidden = os.environ.get(VISIBLE)
    seen = inventory.names if hidden is None else tuple(name.strip() for name in hidden.split(",") if name.strip())
    if asked is None:
        return PipelineDevice({}, "cpu", seen if inventory.names else ())
    form = _FORM.fullmatch(asked)
    if form is None:
        raise NoSuchDevice(f"{asked!r} is not a device: use cpu, cuda, cuda:N, cuda:N/G/C, GPU-… or MIG-…")
    if not inventory.names:
        raise NoSuchDevice(f"{asked} was asked for but this machine has no GPU; use `device: cpu`")
    if not seen:
        raise NoSuchDevice(f"{asked} was asked for but {VISIBLE} hides every GPU from Assay")
    if form["uuid"]:
        if not inventory.knows(asked):
            raise NoSuchDevice(f"there is no {asked}; `nvidia-smi -L` lists what there is")
        return _only(asked)
    if form["at"] is None:
        return PipelineDevice({}, "cuda", seen, certain=len(seen) == 1)
    at = int(form["at"])
    if at >= len(seen):
        there = "the only one is cuda:0" if len(seen) == 1 else f"they are cuda:0 to cuda:{len(seen) - 1}"
        raise NoSuchDevice(f"there is no cuda:{at}; {there}")
    if form["gpu"] is None:
        return _only(seen[at])
    if inventory.problem:
        raise NoSuchDevice(f"{asked}: parts of a GPU are found through NVML, and that fails: {inventory.problem}")
    part = inventory.part(seen[at], int(form["gpu"]), int(form["compute"]))
    if not part:
        raise NoSuchDevice(f"there is no {asked}: {inventory.parts_text(seen[at])}")
    return _only(part)


def device_problem(asked: str | None) -> str:
    """Why a pipeline cannot have the device it asks for, or nothing."""
    try:
        find_device(asked)
    except NoSuchDevice as error:
        return str(error)
    return ""


def _only(name: str) -> PipelineDevice:
    return PipelineDevice({**ORDER, VISIBLE: name}, "cuda:0", (name,), certain=True)


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
