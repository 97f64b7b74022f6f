from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.untrusted.read_limit import USAGE
from assay.untrusted.text_file import read_text
from assay.untrusted.unreadable import Unreadable
from assay.untrusted.writing import write_atomic


class ServiceUsage:
    """What a service used while a program ran: the rows of its own samples from that time."""

    def __init__(self, samples: Path, begin_s: float, end_s: float) -> None:
        """`samples`: usage.csv of the service's supervisor; times are seconds from the start of the service."""
        self.header: list[str] = []
        self.rows: list[list[float]] = []
        try:
            lines = read_text(samples, USAGE).splitlines()
        except (OSError, Unreadable):
            return
        self.header = lines[0].split(",") if lines else []
        for line in lines[1:]:
            try:
                row = [float(cell) for cell in line.split(",")]
            except ValueError:
                continue
            if len(row) == len(self.header) and begin_s <= row[0] <= end_s:
                self.rows.append([round(row[0] - begin_s, 3), *row[1:]])

    def write(self, path: Path) -> None:
        """Writes the rows in the form of a program's `usage.csv`: seconds from the start of the program."""
        if self.rows:
            lines = [",".join(self.header), *(",".join(f"{cell:.10g}" for cell in row) for row in self.rows)]
            write_atomic(path, "\n".join(lines) + "\n")

    def metrics(self, cpu_s: float) -> dict[str, Any]:
        """`cpu_s`: from the kernel's accounts at the program's start and end."""
        metrics = {"service_cpu_s": _lower(cpu_s, "s")}
        memory = self._column("rss_mb")
        if memory:
            metrics["service_peak_rss_mb"] = _lower(max(memory), "MB")
            metrics["service_mean_rss_mb"] = _lower(sum(memory) / len(memory), "MB")
        energy = self._column("gpu_energy_j")
        if len(energy) > 1:
            metrics["service_gpu_energy_j"] = _lower(energy[-1] - energy[0], "J")
        gpu_memory = self._column("gpu_memory_mb")
        if gpu_memory:
            metrics["service_gpu_peak_memory_mb"] = _lower(max(gpu_memory), "MB")
        busy = self._column("gpu_pct")
        if busy:
            metrics["service_gpu_mean_utilisation"] = {"value": sum(busy) / len(busy), "unit": "%"}
        return metrics

    def _column(self, name: str) -> list[float]:
        """Values of a column, without those that are not known (NaN)."""
        if name not in self.header:
            return []
        at = self.header.index(name)
        return [row[at] for row in self.rows if row[at] == row[at]]


def _lower(value: float, unit: str) -> Mapping[str, Any]:
    return {"value": value, "unit": unit, "better": "lower"}
