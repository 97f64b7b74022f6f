"""How much of a run's time a number is about: what is little is not worth a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import fsum, isfinite
from pathlib import Path
from typing import Any, Literal

from assay.record import Metric, Record

Kind = Literal["bottleneck", "scaling", "memory", "compression", "load", "interference", "measurement", "accuracy"]


@dataclass(frozen=True)
class Insight:
    kind: Kind
    entry: str
    says: str
    evidence: str
    """The numbers it rests on, as a person reads them."""
    advice: str
    severity: int = 1
    """2: something is wrong; 1: worth a look; 0: good to know."""
    numbers: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.entry}: {self.says} ({self.evidence})"

    def to_json(self) -> dict[str, Any]:
        return {**self.__dict__, "numbers": dict(self.numbers)}


@dataclass(frozen=True)
class EntryRuns:
    """All measured runs of one entry."""

    name: str
    runs: Sequence[Record]
    folder: Path | None = None
    """Folder of the session, where it is on disk: series of memory use are read from it."""

    @cached_property
    def metrics(self) -> Mapping[str, Metric]:
        """Metrics of the last run; figures that need all runs take `values`."""
        return self.runs[-1].metrics

    def number(self, name: str) -> float | None:
        metric = self.metrics.get(name)
        return None if metric is None else metric.number

    def share(self, name: str) -> float | None:
        """0.9, whether it was written as 0.9 or as 90 with the unit %."""
        metric = self.metrics.get(name)
        if metric is None or metric.number is None:
            return None
        return metric.number / 100 if metric.unit == "%" else metric.number

    def ending(self, suffix: str) -> list[tuple[str, float]]:
        """Metrics whose name ends so, with what stands before it."""
        return [
            (name.removesuffix(suffix), value)
            for name, metric in self.metrics.items()
            if name.endswith(suffix) and (value := metric.number) is not None
        ]


LEAST = 0.05
"""Share of the run's time below which nothing is said."""
_SECONDS = {"s": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60.0}
_NO_PART = re.compile(r"(^|[._])(p\d|latency|ttft|tpot|itl)")
"""Times of single requests, which overlap: they add up to no part of the run."""


def wall_seconds(entry: EntryRuns) -> float:
    """All runs of the entry together, start and end of the program included; 0 where it is not known."""
    return fsum(run.exec_time_s for run in entry.runs if isfinite(run.exec_time_s) and run.exec_time_s > 0)


def too_little(entry: EntryRuns, metric: Metric) -> bool:
    """A time whose samples are less than `LEAST` of the run, and not all that the program has timed."""
    spent = _seconds_spent(metric)
    whole = entry.runs[-1].exec_time_s
    if spent is None or whole <= 0:
        return False
    timed = [
        other for other in entry.metrics.values() if _seconds_spent(other) is not None and other.name != "exec_time_s"
    ]
    return len(timed) > 1 and spent < LEAST * whole


def _seconds_spent(metric: Metric) -> float | None:
    """Seconds that the metric's samples took together; None where it is no time of a part of the run."""
    unit = metric.unit or metric.name.rpartition("_")[2]
    if unit not in _SECONDS or _NO_PART.search(metric.name) or metric.name.startswith("usage."):
        return None
    samples = [value for value in metric.samples if isfinite(value) and value > 0]
    value = fsum(samples) if samples else metric.number
    return None if value is None or not isfinite(value) else value * _SECONDS[unit]
