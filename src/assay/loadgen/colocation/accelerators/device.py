from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from assay.errors import UsageError
from assay.loadgen.colocation.accelerators.gpu_inventory import GpuInventory

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
