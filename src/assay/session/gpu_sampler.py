from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any, Self

PERIOD_S = 0.5


class GpuSampler:
    """Memory and utilisation of all GPUs through NVML while a run goes on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self.peak_memory_mb = 0.0
        self._utilisation: list[float] = []

    @property
    def mean_utilisation(self) -> float:
        return sum(self._utilisation) / max(len(self._utilisation), 1)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(timeout=5)

    def _sample(self) -> None:
        import pynvml

        pynvml.nvmlInit()
        devices: list[Any] = [pynvml.nvmlDeviceGetHandleByIndex(at) for at in range(pynvml.nvmlDeviceGetCount())]
        started = time.monotonic()
        with self._path.open("w", encoding="utf-8") as out:
            out.write("t_s,gpu,memory_mb,utilisation\n")
            while not self._stop.wait(PERIOD_S):
                for at, device in enumerate(devices):
                    memory = pynvml.nvmlDeviceGetMemoryInfo(device).used / 2**20
                    utilisation = float(pynvml.nvmlDeviceGetUtilizationRates(device).gpu)
                    self.peak_memory_mb = max(self.peak_memory_mb, memory)
                    self._utilisation.append(utilisation)
                    out.write(f"{time.monotonic() - started:.2f},{at},{memory:.1f},{utilisation:.0f}\n")
        pynvml.nvmlShutdown()
