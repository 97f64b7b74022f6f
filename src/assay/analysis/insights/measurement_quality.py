"""Can the numbers be believed: warm-up, outliers, spread between runs, and what else the machine was doing."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path
from statistics import fmean, median

import numpy as np

from assay.analysis.conditions import disturbances, not_alone
from assay.analysis.insights.insight import EntryRuns, Insight, too_little
from assay.analysis.rules import direction
from assay.analysis.sentences import insight_sentences as said
from assay.files.reading import USAGE, Unreadable, read_text
from assay.record import Record
from assay.record.metric import Better
from assay.stats.intervals import t_quantile
from assay.stats.robust import find_outliers, spread
from assay.stats.warmup import WarmupCut, find_warmup

NOISY = 0.10
MATTERS = 0.01
"""Least share by which a warm-up must move the median or the mean; below it, leaving it out gains nothing."""


def measurement(entry: EntryRuns) -> Iterator[Insight]:
    for name, metric in entry.metrics.items():
        samples = [value for value in metric.samples if isfinite(value)]
        if len(samples) >= 3 and not too_little(entry, metric):
            better = direction(name, metric.unit, metric.better)
            yield from within_run(entry.name, name, samples, better)
    yield from _between_runs(entry)
    yield from _machine(entry)


def within_run(entry: str, name: str, samples: Sequence[float], better: Better | None = None) -> Iterator[Insight]:
    """Insights about the samples of one run. They are flagged, never deleted: the reader decides what to leave out."""
    warmup = find_warmup(samples)
    rest = samples[warmup.cut :] or samples
    shift, mean_shift = (m(samples) / m(rest) - 1 if m(rest) else 0.0 for m in (median, fmean))
    gains = max(abs(shift), abs(mean_shift)) >= MATTERS
    if warmup.note and warmup.cut and (gains or not warmup.steady):
        head = median(samples[: warmup.cut])
        yield Insight(
            "measurement", entry,
            *said.warm_up(
                name, warmup.note, shift, mean_shift,
                _settling(warmup, worse=better is None or (head > median(rest)) == (better == "lower")),
            ),
            numbers={"cut": warmup.cut, "iterations": warmup.iterations, "shift": shift},
        )  # fmt: skip
    severe = [outlier for outlier in find_outliers(samples) if outlier.severe]
    if severe:
        worst = max(severe, key=lambda outlier: abs(outlier.distance))
        yield Insight(
            "measurement", entry,
            *said.outliers(name, len(severe), len(samples), worst.index + 1, worst.value, median(samples)), 0,
            {"outliers": len(severe), "values": len(samples)},
        )  # fmt: skip


def _settling(warmup: WarmupCut, worse: bool) -> str:
    """Iterations of one process: a warm-up of the session is a run of its own and changes nothing inside others."""
    if not warmup.steady:
        return said.not_settled()
    if not worse:
        return said.gets_worse()
    return said.iterate_before(warmup.cut)


def _between_runs(entry: EntryRuns) -> Iterator[Insight]:
    if len(entry.runs) < 5:
        return
    metrics = [run.metrics for run in entry.runs]
    for name, metric in metrics[-1].items():
        if direction(name, metric.unit, metric.better) is None or too_little(entry, metric):
            continue
        values = [v for m in metrics if name in m and (v := m[name].number) is not None and v > 0 and isfinite(v)]
        variation = spread(np.log(values)) if len(values) >= 5 else 0.0
        if variation > NOISY:
            yield Insight(
                "measurement", entry.name,
                *said.noisy(
                    name, variation, len(values), min(values), max(values),
                    2 * variation * (2 / len(values)) ** 0.5,
                ),
                numbers={"variation": variation},
            )  # fmt: skip


def _machine(entry: EntryRuns) -> Iterator[Insight]:
    disturbed = [(run, notes) for run in entry.runs if (notes := disturbances(run))]
    crowded = [(run, notes) for run, notes in disturbed if not_alone(run)]
    if not disturbed:
        return
    # A quota is nobody else's doing: runs that only it held back are spoken of where no others are.
    disturbed, shared = (crowded, True) if crowded else (disturbed, False)
    run, notes = disturbed[-1]
    yield Insight(
        "measurement", entry.name,
        *said.disturbance(len(disturbed), len(entry.runs), run.run_id, "; ".join(notes), shared=shared),
        numbers={"disturbed": len(disturbed), "runs": len(entry.runs)},
    )  # fmt: skip


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
