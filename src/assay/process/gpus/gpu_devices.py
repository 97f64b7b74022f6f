"""Which GPUs there are, and the parts that they are cut into (MIG), by the names that CUDA takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from assay.process.gpus.gpu import Gpus


@dataclass(frozen=True)
class GpuPart:
    """A MIG device: a compute instance of a GPU instance, numbered as `nvidia-smi mig -lci` shows them."""

    gpu_instance: int
    compute_instance: int
    uuid: str


@dataclass(frozen=True)
class GpuDevice:
    index: int
    """Number of the GPU as nvidia-smi counts: in the order of the bus."""
    uuid: str
    parts: tuple[GpuPart, ...] = ()


def gpu_devices() -> tuple[GpuDevice, ...]:
    """Raises NoGpu where none can be looked at."""
    with Gpus() as gpus:
        nvml, asked = gpus.nvml, gpus.ask
        return tuple(
            GpuDevice(at, _text(asked(nvml.nvmlDeviceGetUUID, handle)), tuple(_parts(gpus, handle)))
            for at, handle in enumerate(gpus.devices)
        )


def _parts(gpus: Gpus, handle: Any) -> Iterator[GpuPart]:
    nvml, asked = gpus.nvml, gpus.ask
    for at in range(asked(nvml.nvmlDeviceGetMaxMigDeviceCount, handle) or 0):
        part = asked(nvml.nvmlDeviceGetMigDeviceHandleByIndex, handle, at)
        if part is None:
            continue  # Parts are numbered with gaps.
        instance, compute = (
            asked(ask, part) for ask in (nvml.nvmlDeviceGetGpuInstanceId, nvml.nvmlDeviceGetComputeInstanceId)
        )
        if instance is not None and compute is not None:
            yield GpuPart(instance, compute, _text(asked(nvml.nvmlDeviceGetUUID, part)))


def _text(said: str | bytes | None) -> str:
    return said.decode(errors="replace") if isinstance(said, bytes) else said or ""
