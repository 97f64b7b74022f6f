"""What the driver's library (NVML) says of all GPUs, whatever CUDA_VISIBLE_DEVICES hides from a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from assay.errors import MissingExtra


class NoGpu(Exception):
    """Says why none can be looked at."""


@dataclass(frozen=True)
class GpuProcess:
    pid: int
    username: str | None
    command: str | None
    gpu_memory_usage: float | None
    """MB, where the driver tells."""


@dataclass(frozen=True)
class GpuReading:
    """One GPU at one moment; None is what it does not tell."""

    gpu: int
    utilisation_pct: float | None
    memory_used_mb: float | None
    memory_total_mb: float | None
    temperature_c: float | None
    power_w: float | None
    power_limit_w: float | None
    fan_pct: float | None
    processes: tuple[GpuProcess, ...]

    @property
    def memory_share(self) -> float | None:
        if self.memory_used_mb is None or not self.memory_total_mb:
            return None
        return self.memory_used_mb / self.memory_total_mb


class Gpus:
    """Raises NoGpu when it is entered and there is none, no driver, or no `pynvml`."""

    def __enter__(self) -> Self:
        try:
            import pynvml
        except ImportError:
            raise NoGpu(str(MissingExtra("pynvml", "gpu"))) from None
        self.nvml: Any = pynvml
        try:
            pynvml.nvmlInit()
            self.devices = [pynvml.nvmlDeviceGetHandleByIndex(at) for at in range(pynvml.nvmlDeviceGetCount())]
        except pynvml.NVMLError as error:
            raise NoGpu(f"the NVIDIA driver's library cannot be used: {error}") from None
        if not self.devices:
            raise NoGpu("the NVIDIA driver knows no GPU")
        return self

    def __exit__(self, *_: object) -> None:
        self.ask(self.nvml.nvmlShutdown)

    def readings(self) -> list[GpuReading]:
        return [self._reading(at, device) for at, device in enumerate(self.devices)]

    def _reading(self, at: int, device: Any) -> GpuReading:
        nvml, asked = self.nvml, self.ask
        memory = asked(nvml.nvmlDeviceGetMemoryInfo, device)
        rates = asked(nvml.nvmlDeviceGetUtilizationRates, device)
        power = asked(nvml.nvmlDeviceGetPowerUsage, device)
        limit = asked(nvml.nvmlDeviceGetEnforcedPowerLimit, device)
        return GpuReading(
            gpu=at,
            utilisation_pct=None if rates is None else float(rates.gpu),
            memory_used_mb=None if memory is None else memory.used / 2**20,
            memory_total_mb=None if memory is None else memory.total / 2**20,
            temperature_c=asked(nvml.nvmlDeviceGetTemperature, device, nvml.NVML_TEMPERATURE_GPU),
            power_w=None if power is None else power / 1000,
            power_limit_w=None if limit is None else limit / 1000,
            fan_pct=asked(nvml.nvmlDeviceGetFanSpeed, device),
            processes=self._processes(device),
        )

    def _processes(self, device: Any) -> tuple[GpuProcess, ...]:
        found: dict[int, Any] = {}
        for ask in (self.nvml.nvmlDeviceGetGraphicsRunningProcesses, self.nvml.nvmlDeviceGetComputeRunningProcesses):
            found |= {process.pid: process for process in self.ask(ask, device) or ()}
        return tuple(_process(pid, found[pid].usedGpuMemory) for pid in sorted(found))

    def ask(self, ask: Callable[..., Any], *arguments: Any) -> Any:
        """The answer, or None: a GPU without a fan, or a part of one, does not know everything."""
        try:
            return ask(*arguments)
        except self.nvml.NVMLError:
            return None


def absence() -> str | None:
    """Why no GPU can be looked at; None where one can."""
    try:
        with Gpus():
            return None
    except NoGpu as error:
        return str(error)


def _process(pid: int, used: int | None) -> GpuProcess:
    """A process with its name only: arguments may hold what is nobody's business."""
    try:
        command: str | None = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
        owner: str | None = Path(f"/proc/{pid}").owner()
    except (OSError, KeyError):
        command = owner = None
    return GpuProcess(pid, owner, command, None if used is None else used / 2**20)


# Which GPUs there are, and the parts that they are cut into (MIG), by the names that CUDA takes.


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
