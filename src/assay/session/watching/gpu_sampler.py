from __future__ import annotations

import csv
import json
import threading
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from assay.process.gpus.gpu import GpuReading, Gpus, NoGpu
from assay.untrusted.writing import open_new

COLUMNS = (
    "timestamp_utc",
    "gpu_id",
    "utilization_gpu_pct",
    "utilization_memory_pct",
    "temperature_c",
    "power_draw_w",
    "power_limit_w",
    "fan_speed_pct",
    "processes",
    "memory_used_mb",
    "memory_total_mb",
)
"""Columns of `gpustats.csv`; the first nine are those that other recorders of such a file have."""


class GpuSampler:
    """A row for every GPU each `interval_s` while a run goes on, the first at once."""

    def __init__(self, path: Path, interval_s: float) -> None:
        self._path = path
        self._interval_s = interval_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self.peak_memory_mb = 0.0
        self.problem = ""
        """Why rows are missing."""
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
        try:
            with Gpus() as gpus, open_new(self._path, newline="") as out:
                rows = csv.writer(out)
                rows.writerow(COLUMNS)
                while True:
                    rows.writerows(map(self._row, gpus.readings()))
                    out.flush()
                    if self._stop.wait(self._interval_s):
                        return
        except (NoGpu, OSError) as error:
            self.problem = str(error)

    def _row(self, reading: GpuReading) -> list[Any]:
        self.peak_memory_mb = max(self.peak_memory_mb, reading.memory_used_mb or 0.0)
        if reading.utilisation_pct is not None:
            self._utilisation.append(reading.utilisation_pct)
        share = reading.memory_share
        return [
            datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            reading.gpu,
            _format(reading.utilisation_pct),
            _format(None if share is None else 100 * share),
            _format(reading.temperature_c),
            _format(reading.power_w),
            _format(reading.power_limit_w),
            _format(reading.fan_pct),
            json.dumps([asdict(process) for process in reading.processes], separators=(",", ":")),
            _format(reading.memory_used_mb),
            _format(reading.memory_total_mb),
        ]


def _format(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}" if value == int(value) else f"{value:.2f}"
