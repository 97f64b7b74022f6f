from __future__ import annotations

from dataclasses import dataclass

from assay.analysis.colocation.colocation_result import ColocationResult
from assay.analysis.colocation.pipeline_run import PipelineRun
from assay.analysis.colocation.rate_search import RateSearch, RateTrial, knee
from assay.analysis.knee import BEHIND, KNEE
from assay.report.exhibits.plot import Plot
from assay.report.quantity import number

_LEAST_POINTS = 2
_MOST_ROWS = 60


@dataclass(frozen=True)
class RateRow:
    trial: RateTrial
    ran: PipelineRun | None

    @property
    def sent(self) -> float | None:
        """Queries a second."""
        return self.trial.sent if self.trial.sent is not None else self.ran.achieved_rate if self.ran else None


@dataclass(frozen=True)
class RateCurveExhibit:
    """Latency of one pipeline against the rate that is asked of it, over each whole run, as objectives are judged."""

    pipeline: str
    says: str
    rows: tuple[RateRow, ...]
    left_out: int
    plots: tuple[Plot, ...]


def rate_curve(result: ColocationResult) -> RateCurveExhibit | None:
    if result.rates is None:
        return None
    search = result.rates
    runs = {run.label: run for run in result.runs}
    found = ((trial, runs.get(trial.run)) for trial in search.trials)
    rows = [RateRow(trial, run.of(search.pipeline) if run else None) for trial, run in found]
    mark, says = _answer(search, rows)
    return RateCurveExhibit(
        search.pipeline, says, tuple(rows[:_MOST_ROWS]), max(0, len(rows) - _MOST_ROWS), _plots(rows, mark)
    )


def _answer(search: RateSearch, rows: list[RateRow]) -> tuple[float | None, str]:
    if search.searched:
        if search.peak is None:
            return None, "No rate tried meets the objectives."
        if search.bounded:
            return search.peak, f"The highest rate found that meets the objectives is {number(search.peak)} queries/s."
        return search.peak, f"No rate tried failed: the peak is at least {number(search.peak)} queries/s."
    drawn = [row for row in rows if row.ran is not None]
    found = knee(
        [row.trial for row in drawn],
        [row.ran.whole.p99_s if row.ran else None for row in drawn],
        [row.ran.whole.throughput if row.ran else None for row in drawn],
    )
    if found is None:
        return None, ""
    return found, (
        f"The knee is at {number(found)} queries/s: at the next rate p99 is more than {KNEE:g} times that at the "
        f"lowest rate, or fewer than {BEHIND:.0%} of the queries to be sent are answered."
    )


def _plots(rows: list[RateRow], mark: float | None) -> tuple[Plot, ...]:
    drawn = [(row.trial.rate, row.ran.whole) for row in rows if row.ran is not None]
    if len({rate for rate, _ in drawn}) < _LEAST_POINTS:
        return ()
    x = tuple(rate for rate, _ in drawn)
    marks = () if mark is None else (mark,)
    latency = (
        ("p50", tuple(_milliseconds(whole.p50_s) for _, whole in drawn)),
        ("p99", tuple(_milliseconds(whole.p99_s) for _, whole in drawn)),
    )
    answered = (("answered", tuple(whole.throughput for _, whole in drawn)), ("asked", x))
    return (
        Plot("Latency", "ms", x, latency, "against the rate asked", "queries/s asked", marks=marks),
        Plot("Throughput", "1/s", x, answered, "against the rate asked", "queries/s asked", marks=marks),
    )


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else float(f"{seconds * 1e3:.4g}")
