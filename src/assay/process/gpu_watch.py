"""What a tree of processes uses of GPUs, as the driver's library (NVML) tells."""

import sys
import time

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Literal

    Source = Literal["", "counter", "power"]


class GpuEnergy:
    def __init__(self) -> None:
        self.source: Source = ""
        self._joules = 0.0
        self._last: tuple[float, float] | None = None
        """Time in seconds, and the counter in joules or the power in watts."""

    def add(self, at: float, counter_j: float | None, power_w: float | None) -> float | None:
        """Takes one reading; returns the joules up to it, None while nothing is known. The next reading makes up for
        one that is missed."""
        if not self.source and (counter_j is not None or power_w is not None):
            self.source = "counter" if counter_j is not None else "power"
        value = counter_j if self.source == "counter" else power_w
        if value is None:
            return None
        if self._last is not None:
            then, before = self._last
            # A driver that is loaded anew counts from 0.
            self._joules += max(value - before, 0.0) if self.source == "counter" else (value + before) / 2 * (at - then)
        self._last = (at, value)
        return self._joules


# One GPU, or a part of one, and what a tree of processes does on it.
#
# Every counter is asked for by itself: a GPU or a driver that lacks one of them tells the rest. Power and energy are
# those of a whole GPU, whoever else uses it.

COLUMNS = ("gpu_pct", "gpu_device_pct", "gpu_memory_mb", "gpu_power_w", "gpu_energy_j")
COUNTERS = {
    "gpu_pct": "the utilisation by single processes",
    "gpu_device_pct": "its utilisation",
    "gpu_memory_mb": "the memory of single processes",
    "gpu_power_w": "its power",
    "gpu_energy_j": "its energy",
}
"""Each column as a person calls it."""
LOOK_BACK_US = 1_000_000
"""The driver keeps samples of the utilisation by processes; those of the last second are the present."""


class WatchedGpu:
    def __init__(self, nvml: "Any", name: str, certain: bool) -> None:
        self._nvml = nvml
        self._handle = nvml.nvmlDeviceGetHandleByIndex(int(name)) if name.isdigit() else _by_uuid(nvml, name)
        self._whole = self._ask(nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle, self._handle) or self._handle
        self._energy = GpuEnergy()
        self._told: set[str] = set()
        self.used = certain

    def sample(self, pids: "set[int]", at: float) -> "list[float | None]":
        memory = self._memory_mb(pids)
        if not self.used:
            return []
        nvml, asked = self._nvml, self._ask
        rates = asked(nvml.nvmlDeviceGetUtilizationRates, self._handle)
        power = asked(nvml.nvmlDeviceGetPowerUsage, self._whole)
        counter = asked(nvml.nvmlDeviceGetTotalEnergyConsumption, self._whole)
        power_w = None if power is None else power / 1000
        energy = self._energy.add(at, None if counter is None else counter / 1000, power_w)
        values = [self._own_pct(pids), None if rates is None else float(rates.gpu), memory, power_w, energy]
        self._told |= {column for column, value in zip(COLUMNS, values, strict=True) if value is not None}
        return values

    def summary(self) -> "dict[str, Any]":
        nvml, asked = self._nvml, self._ask
        return {
            "name": _text(asked(nvml.nvmlDeviceGetName, self._whole) or "GPU"),
            "uuid": _text(asked(nvml.nvmlDeviceGetUUID, self._whole) or ""),
            "part": self._whole is not self._handle,
            "energy_source": self._energy.source,
            "silent": [COUNTERS[column] for column in COLUMNS if column not in self._told],
        }

    def _memory_mb(self, pids: "set[int]") -> float | None:
        nvml = self._nvml
        found: dict[int, int | None] = {}
        answers = [
            self._ask(ask, self._handle)
            for ask in (nvml.nvmlDeviceGetGraphicsRunningProcesses, nvml.nvmlDeviceGetComputeRunningProcesses)
        ]
        for process in (process for answer in answers for process in answer or ()):
            if process.pid in pids:
                found[process.pid] = process.usedGpuMemory
        self.used = self.used or bool(found)
        if all(answer is None for answer in answers) or None in found.values():
            return None
        return sum(used or 0 for used in found.values()) / 2**20

    def _own_pct(self, pids: "set[int]") -> float | None:
        """Share of the GPU's processor time that these processes used, in percent; where the driver has no samples,
        over each process's life by its accounts."""
        nvml = self._nvml
        since = int(time.time() * 1e6) - LOOK_BACK_US
        try:
            samples = nvml.nvmlDeviceGetProcessUtilization(self._whole, since)
        except nvml.NVMLError_NotFound:
            return 0.0
        except nvml.NVMLError:
            return self._pct_of_accounts(pids)
        latest: dict[int, tuple[int, int]] = {}
        for one in samples:
            if one.pid in pids:
                latest[one.pid] = max(latest.get(one.pid, (0, 0)), (one.timeStamp, one.smUtil))
        return float(sum(percent for _, percent in latest.values()))

    def _pct_of_accounts(self, pids: "set[int]") -> float | None:
        nvml = self._nvml
        if self._ask(nvml.nvmlDeviceGetAccountingMode, self._whole) != nvml.NVML_FEATURE_ENABLED:
            return None
        accounts = [self._ask(nvml.nvmlDeviceGetAccountingStats, self._whole, pid) for pid in pids]
        shares = [account.gpuUtilization for account in accounts if account is not None]
        # A number above 100, which no share can be, is how NVML says that it does not know.
        return float(sum(shares)) if all(share <= 100 for share in shares) else None

    def _ask(self, ask: "Callable[..., Any]", *arguments: "Any") -> "Any":
        try:
            return ask(*arguments)
        except self._nvml.NVMLError:
            return None


def _by_uuid(nvml: "Any", name: str) -> "Any":
    """CUDA takes the beginning of a UUID, where only one GPU has it; NVML wants all of it."""
    try:
        return nvml.nvmlDeviceGetHandleByUUID(name)
    except nvml.NVMLError:
        handles = [nvml.nvmlDeviceGetHandleByIndex(at) for at in range(nvml.nvmlDeviceGetCount())]
        found = [handle for handle in handles if _text(nvml.nvmlDeviceGetUUID(handle)).startswith(name)]
        if len(found) != 1:
            raise
        return found[0]


def _text(said: "str | bytes") -> str:
    return said.decode(errors="replace") if isinstance(said, bytes) else said


class GpuWatch:
    """The GPUs named as CUDA_VISIBLE_DEVICES names them: a number, `GPU-…` or `MIG-…`."""

    columns = COLUMNS

    def __init__(self, names: "Iterable[str]", library: str, certain: bool) -> None:
        """`library`: folder that holds pynvml. `certain`: they are the tree's even where none of it is seen on them."""
        self.problem = ""
        """Why nothing is known."""
        self._gpus: list[WatchedGpu] = []
        self._end: tuple[float, float] | None = None
        try:
            sys.path.append(library)
            import pynvml

            self._nvml: Any = pynvml
            pynvml.nvmlInit()
        except ImportError as error:
            self.problem = str(error)
            return
        except pynvml.NVMLError as error:
            self.problem = f"NVML: {error}"
            return
        finally:
            sys.path.remove(library)
        for name in names:
            try:
                self._gpus.append(WatchedGpu(pynvml, name, certain))
            except pynvml.NVMLError as error:
                self.problem = f"GPU {name}: NVML: {error}"

    def sample(self, pids: "set[int]") -> "list[float | None]":
        """A value a column: the sum over the tree's GPUs, None where one of them does not tell."""
        at = time.monotonic()
        rows = [gpu.sample(pids, at) for gpu in self._gpus]
        used = [row for gpu, row in zip(self._gpus, rows, strict=True) if gpu.used]
        columns = zip(*used, strict=True) if used else [()] * len(COLUMNS)
        return [_sum(values) for values in columns]

    def end(self) -> None:
        """The program has ended, between two samples: energy up to here is its own as well."""
        if self._end is None:
            at, energy = time.monotonic(), self.sample(set())[COLUMNS.index("gpu_energy_j")]
            self._end = (at, energy) if energy is not None else None

    def finish(self, started: float) -> "dict[str, Any]":
        """`started`: the moment, on the monotonic clock, that the times of the rows count from."""
        gpus = [gpu.summary() for gpu in self._gpus if gpu.used]
        return {"gpus": gpus, "gpu_problem": self.problem, "sampled_from_s": started, "gpu_end": self._end}


def _sum(values: "Iterable[float | None]") -> float | None:
    known = list(values)
    return None if not known or None in known else sum(value for value in known if value is not None)
