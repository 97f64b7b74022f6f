from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from assay.names import list_names
from assay.process.gpus.gpu import NoGpu
from assay.process.gpus.gpu_devices import GpuDevice, gpu_devices

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
