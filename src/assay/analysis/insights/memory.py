from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from assay.analysis.insights.insight import EntryRuns, Insight
from assay.analysis.sentences import insight_sentences as said
from assay.record import Record
from assay.stats.distributions import t_quantile
from assay.untrusted.read_limit import USAGE
from assay.untrusted.text_file import read_text
from assay.untrusted.unreadable import Unreadable

FEWEST = 20
GROWS_BY = 0.2
"""Least growth worth saying, as a share of the mean over the part of the run that is looked at."""


def memory_growth(entry: EntryRuns) -> Iterator[Insight]:
    yield from _find_measured_leaks(entry)
    if entry.folder is not None:
        yield from _find_rise(entry, entry.folder)


def _find_measured_leaks(entry: EntryRuns) -> Iterator[Insight]:
    """A benchmark's own `growth_per_…` whose whole interval is above zero, where it says it is a leak."""
    for name, metric in entry.metrics.items():
        if not name.endswith("_leaks") or metric.value is not True:
            continue
        what = name.removesuffix("_leaks")
        stem, _, operation = what.rpartition(".")
        growth = f"{stem}.growth_per_{operation}" if stem else f"growth_per_{operation}"
        slope, low, high = (entry.number(f"{growth}{part}") for part in ("", "_low", "_high"))
        numbers = {k: v for k, v in (("slope", slope), ("low", low), ("high", high)) if v is not None}
        yield Insight("memory", entry.name, *said.leaks(operation, name, slope, low, high), 2, numbers)


def _find_rise(entry: EntryRuns, folder: Path) -> Iterator[Insight]:
    """Resident memory that never stops rising: a straight line over the last two thirds of the run, by Student's t."""
    run = entry.runs[-1]
    series = _series(run, folder)
    if series is None:
        return
    seconds, memory = series
    late = seconds >= seconds[0] + (seconds[-1] - seconds[0]) / 3
    x, y = seconds[late] - seconds[late].mean(), memory[late]
    if x.size < FEWEST or float(x @ x) == 0:
        return
    slope = float(x @ y) / float(x @ x)
    left = y - y.mean() - slope * x
    error = float(np.sqrt((left @ left) / (x.size - 2) / (x @ x)))
    low = slope - t_quantile(0.975, x.size - 2) * error
    over = slope * float(x[-1] - x[0])
    # A step (a model loaded late) also has a slope; rising in both halves is what a leak does.
    halves = np.array_split(y, 2)
    rises = all(float(half[-1] - half[0]) > 0.25 * over for half in halves)
    if low > 0 and over > GROWS_BY * float(y.mean()) and rises:
        yield Insight(
            "memory", entry.name, *said.rises(slope, float(y[0]), float(y[-1])),
            numbers={"mb_per_s": slope, "low": low, "grown_mb": over},
        )  # fmt: skip


def _series(run: Record, folder: Path) -> tuple[np.ndarray, np.ndarray] | None:
    name = run.files.get("usage")
    path = folder / name if name else None
    if path is None or not path.resolve().is_relative_to(folder.resolve()):
        return None
    try:
        lines = read_text(path, USAGE).splitlines()
        rows = [(float(row["t_s"]), float(row["rss_mb"])) for row in csv.DictReader(lines)]
    except (FileNotFoundError, Unreadable, csv.Error, KeyError, ValueError, TypeError):
        return None
    if len(rows) < FEWEST:
        return None
    table = np.array(rows)
    return table[:, 0], table[:, 1]
