"""Can the numbers be believed: warm-up, outliers, spread between runs, and what else the machine was doing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from statistics import fmean, median

import numpy as np

from assay.analysis.comparing.conditions import disturbances, not_alone
from assay.analysis.direction import direction
from assay.analysis.insights.insight import EntryRuns, Insight
from assay.analysis.insights.run_share import too_little
from assay.analysis.sentences import insight_sentences as said
from assay.record.metric import Better
from assay.stats.biweight import spread
from assay.stats.outliers import find_outliers
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
