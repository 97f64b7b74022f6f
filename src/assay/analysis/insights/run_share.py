"""How much of a run's time a number is about: what is little is not worth a sentence."""

from __future__ import annotations

import re
from math import fsum, isfinite

from assay.analysis.insights.insight import EntryRuns
from assay.record import Metric

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
