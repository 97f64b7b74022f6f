"""Can the numbers be believed: warm-up, outliers, spread between runs, and what else the machine was doing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from statistics import median

import numpy as np

from assay.analysis.conditions import disturbances
from assay.analysis.direction import direction
from assay.analysis.insights.insight import EntryRuns, Insight
from assay.analysis.insights.run_share import too_little
from assay.stats.biweight import spread
from assay.stats.outliers import find_outliers
from assay.stats.warmup import find_warmup

NOISY = 0.10


def measurement(entry: EntryRuns) -> Iterator[Insight]:
    for name, metric in entry.metrics.items():
        samples = [value for value in metric.samples if isfinite(value)]
        if len(samples) >= 3 and not too_little(entry, metric):
            yield from within_run(entry.name, name, samples)
    yield from _between_runs(entry)
    yield from _machine(entry)


def within_run(entry: str, name: str, samples: Sequence[float]) -> Iterator[Insight]:
    """Flagged, never deleted: what to leave out is for the reader to decide."""
    warmup = find_warmup(samples)
    if warmup.note:
        rest = samples[warmup.cut :] or samples
        shift = median(samples) / median(rest) - 1 if median(rest) else 0.0
        yield Insight(
            "measurement", entry, f"{name}: {warmup.note}", f"with it the median is {shift:+.1%} off",
            "warm up before measuring (`warmup: 1`)" if warmup.steady else "run longer, until it settles",
            numbers={"cut": warmup.cut, "iterations": warmup.iterations, "shift": shift},
        )  # fmt: skip
    severe = [outlier for outlier in find_outliers(samples) if outlier.severe]
    if severe:
        worst = max(severe, key=lambda outlier: abs(outlier.distance))
        yield Insight(
            "measurement", entry, f"{name}: {len(severe)} of {len(samples)} values stand far apart",
            f"number {worst.index + 1} is {worst.value:.4g}, the median {median(samples):.4g}",
            "they are kept; look at what happened then, and read the median rather than the mean", 0,
            {"outliers": len(severe), "values": len(samples)},
        )  # fmt: skip


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
                "measurement", entry.name, f"{name} varies by {variation:.0%} from run to run",
                f"{len(values)} runs, {min(values):.4g} to {max(values):.4g}",
                f"a change below {2 * variation * (2 / len(values)) ** 0.5:.0%} can hardly be seen with so few; "
                "`assay ab` runs two versions in turn until it can tell them apart or its pairs are spent",
                numbers={"variation": variation},
            )  # fmt: skip


def _machine(entry: EntryRuns) -> Iterator[Insight]:
    disturbed = [(run, notes) for run in entry.runs if (notes := disturbances(run))]
    if not disturbed:
        return
    run, notes = disturbed[-1]
    yield Insight(
        "measurement", entry.name, f"{len(disturbed)} of {len(entry.runs)} runs were not alone on the machine",
        f"{run.run_id}: {'; '.join(notes)}", "read CPU time beside the clock's, or measure when the machine is quiet",
        numbers={"disturbed": len(disturbed), "runs": len(entry.runs)},
    )  # fmt: skip
