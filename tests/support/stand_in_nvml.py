"""The NVIDIA driver's library as a machine with the GPUs of $STAND_IN_GPUS has it: a JSON list, a GPU an item.

`used` and `total` are bytes; a key that a GPU lacks is what that GPU does not support. No file: no driver.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

NVML_TEMPERATURE_GPU = 0


class NVMLError(Exception):
    pass


def nvmlInit() -> None:
    if not Path(os.environ["STAND_IN_GPUS"]).is_file():
        raise NVMLError("Driver Not Loaded")


def nvmlShutdown() -> None:
    pass


def nvmlDeviceGetCount() -> int:
    return len(_gpus())


def nvmlDeviceGetHandleByIndex(at: int) -> int:
    return at


def nvmlDeviceGetName(at: int) -> str:
    return str(_gpus()[at].get("name", "Stand-in GPU"))


def nvmlSystemGetDriverVersion() -> str:
    return "580.1"


def nvmlSystemGetCudaDriverVersion() -> int:
    return 13000


def nvmlDeviceGetMemoryInfo(at: int) -> SimpleNamespace:
    return SimpleNamespace(used=_known(at, "used"), total=_known(at, "total"))


def nvmlDeviceGetUtilizationRates(at: int) -> SimpleNamespace:
    return SimpleNamespace(gpu=_known(at, "utilisation"), memory=0)


def nvmlDeviceGetTemperature(at: int, kind: int) -> int:
    return int(_known(at, "temperature"))


def nvmlDeviceGetPowerUsage(at: int) -> int:
    return int(_known(at, "milliwatts"))


def nvmlDeviceGetEnforcedPowerLimit(at: int) -> int:
    return int(_known(at, "milliwatts_limit"))


def nvmlDeviceGetFanSpeed(at: int) -> int:
    return int(_known(at, "fan"))


def nvmlDeviceGetComputeRunningProcesses(at: int) -> list[SimpleNamespace]:
    return [SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in _known(at, "processes")]


def nvmlDeviceGetGraphicsRunningProcesses(at: int) -> list[SimpleNamespace]:
    raise NVMLError("Not Supported")


def _gpus() -> list[dict[str, Any]]:
    gpus: list[dict[str, Any]] = json.loads(Path(os.environ["STAND_IN_GPUS"]).read_text())
    return gpus


def _known(at: int, key: str) -> Any:
    if key not in _gpus()[at]:
        raise NVMLError("Not Supported")
    return _gpus()[at][key]
