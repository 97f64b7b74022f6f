"""What load from outside the run can explain of a wall-clock difference, and what it can't."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.records import noisy, record, side

from assay.analysis import Row, Verdict, compare
from assay.analysis.rules import is_wall_clock
from assay.record import Record, Usage

CPU_S = 1.0


def usage(waited_s: float, others: float) -> Usage:
    """Of a run on two cores that needs a second of CPU time and waits for the rest."""
    wall = CPU_S + waited_s
    return Usage(
        wall_s=wall, cpu_s=CPU_S, run_queue_s=waited_s, neighbour_cpu_s=others * wall, cores=2, peak_threads=1,
        samples=10,
    )  # fmt: skip


QUIET, BUSY = usage(0.0, 0.05), usage(1.0, 1.7)


def runs(level: float, under: Usage, *, metric: str = "work_s", session: str = "base", seed: int = 0) -> list[Record]:
    found = side(noisy(level, seed=seed), metric, session=session, usage=under)
    return [replace(run, exec_time_s=under.wall_s * 1.01**at) for at, run in enumerate(found)]


def row(base: list[Record], head: list[Record], metric: str = "work_s", *, paired: bool = False) -> Row:
    return next(one for one in compare(base, head, paired=paired).rows if one.metric == metric)


def test_a_slowdown_that_waiting_explains_is_not_called() -> None:
    told = row(runs(1, QUIET), runs(1.8, BUSY, session="head", seed=1))
    assert told.verdict is Verdict.INCONCLUSIVE
    assert "the machine was busier in B (1.7 cores used by others, 0.1 in A)" in told.reason
    assert "that explains " in told.reason
    assert "`assay ab`" in told.reason
    assert told.low is not None
    assert told.low < 1, "the interval is as wide as load explains"


def test_a_speedup_after_the_load_has_gone_is_not_called() -> None:
    told = row(runs(1.8, BUSY), runs(1, QUIET, session="head", seed=1))
    assert told.verdict is Verdict.INCONCLUSIVE
    assert "the machine was busier in A (1.7 cores used by others, 0.1 in B)" in told.reason


def test_a_rate_that_waiting_explains_is_not_called() -> None:
    told = row(runs(100, QUIET, metric="rows_per_s"), runs(60, BUSY, metric="rows_per_s", seed=1), "rows_per_s")
    assert told.verdict is Verdict.INCONCLUSIVE
    assert "busier in B" in told.reason


def test_more_than_load_explains_is_called() -> None:
    assert row(runs(1, QUIET), runs(6, BUSY, seed=1)).verdict is Verdict.REGRESSED
    rate = runs(100, QUIET, metric="rows_per_s"), runs(16, BUSY, metric="rows_per_s", seed=1)
    assert row(*rate, "rows_per_s").verdict is Verdict.REGRESSED


def test_a_change_against_the_load_is_called() -> None:
    assert row(runs(1, QUIET), runs(0.7, BUSY, seed=1)).verdict is Verdict.IMPROVED
    assert row(runs(1, BUSY), runs(1.4, QUIET, seed=1)).verdict is Verdict.REGRESSED


def test_equal_load_explains_nothing() -> None:
    assert row(runs(1, BUSY), runs(1.3, BUSY, seed=1)).verdict is Verdict.REGRESSED
    assert row(runs(1, BUSY), runs(1, BUSY, seed=1)).verdict is Verdict.EQUIVALENT


def test_runs_that_look_alike_are_not_equivalent_under_unlike_load() -> None:
    told = row(runs(1, QUIET), runs(1, BUSY, seed=1))
    assert told.verdict is Verdict.INCONCLUSIVE
    assert "that hides " in told.reason


@pytest.mark.parametrize("metric", ["decode_cpu_s", "error_rate", "peak_rss_mb"])
def test_cpu_time_counts_and_memory_are_judged_as_usual(metric: str) -> None:
    told = row(runs(1, QUIET, metric=metric), runs(1.3, BUSY, metric=metric, seed=1), metric)
    assert told.verdict is Verdict.REGRESSED


def test_pairs_share_their_load() -> None:
    assert row(runs(1, QUIET), runs(1.8, BUSY, seed=1), paired=True).verdict is Verdict.REGRESSED


def test_the_wait_of_each_run_counts_not_what_others_used() -> None:
    """Others were as busy, but on the other core."""
    told = row(runs(1, usage(0.0, 1.0)), runs(1.5, usage(0.02, 1.0), seed=1))
    assert told.verdict is Verdict.REGRESSED


def test_without_run_queue_what_others_used_bounds_the_wait() -> None:
    old = replace(BUSY, run_queue_s=None)
    assert row(runs(1, QUIET), runs(1.8, old, seed=1)).verdict is Verdict.INCONCLUSIVE
    assert row(runs(1, QUIET), runs(6, old, seed=1)).verdict is Verdict.REGRESSED


def test_runs_that_queue_for_each_other_are_no_outside_load() -> None:
    """Eight threads on two cores wait for each other, on a machine that nobody else uses."""
    own = Usage(wall_s=2.0, cpu_s=4.0, run_queue_s=12.0, neighbour_cpu_s=0.1, cores=2, peak_threads=8, samples=9)
    told = row(runs(1, replace(own, run_queue_s=0.5)), runs(1.3, own, seed=1))
    assert told.verdict is Verdict.REGRESSED


def test_a_run_that_sleeps_is_not_stretched_by_what_it_never_waited_for() -> None:
    idle = Usage(
        wall_s=10.0, cpu_s=0.1, run_queue_s=0.1, neighbour_cpu_s=5.0, cores=2, peak_threads=1, samples=90
    )  # fmt: skip
    base = [record(metrics={"x": 1}, usage=replace(idle, run_queue_s=0.0), run=at) for at in range(1, 11)]
    slower = [record(metrics={"x": 1}, usage=idle, run=at) for at in range(1, 11)]
    took = noisy(10), noisy(12, seed=1)
    one, other = (
        [replace(run, exec_time_s=float(s)) for run, s in zip(found, took[at], strict=True)]
        for at, found in enumerate((base, slower))
    )
    assert row(one, other, "exec_time_s").verdict is Verdict.REGRESSED


class Nights:
    """Twelve quiet sessions of one run each."""

    def levels(self, entry: str, fingerprint: str, metric: str) -> np.ndarray:
        return np.log(noisy(1, n=12, seed=4))

    def values(self, entry: str, fingerprint: str, metric: str) -> np.ndarray:
        return noisy(1, n=12, seed=4)

    def runs(self, fingerprint: str) -> list[Record]:
        return runs(1, QUIET)


@pytest.mark.parametrize(("level", "verdict"), [(1.8, Verdict.INCONCLUSIVE), (6.0, Verdict.REGRESSED)])
def test_two_busy_nights_in_a_row_after_quiet_ones(level: float, verdict: Verdict) -> None:
    """Base and head were equally busy: it is the nights before that were not."""
    base, head = runs(level, BUSY)[:1], runs(level, BUSY, seed=1)[:1]
    told = next(one for one in compare(base, head, past=Nights()).rows if one.metric == "work_s")
    assert told.verdict is verdict, told.reason
    if verdict is Verdict.INCONCLUSIVE:
        assert "the machine was busier in B" in told.reason


@pytest.mark.parametrize(
    ("name", "unit", "better", "told"),
    [
        ("exec_time_s", "s", "lower", True),
        ("latency_p99_ms", None, "lower", True),
        ("rows", "1/s", "higher", True),
        ("qps", None, "higher", True),
        ("usage.cpu_s", "s", "lower", False),
        ("decodeCpuTime", "ms", "lower", False),
        ("rows_per_cpu_s", "1/s", "higher", False),
        ("audio", "s", "higher", False),
        ("peak_rss_mb", "MB", "lower", False),
        ("num_rows", None, None, False),
    ],
)
def test_what_is_wall_clock_goes_by_unit_name_and_direction(
    name: str, unit: str | None, better: str | None, told: bool
) -> None:
    assert is_wall_clock(name, unit, better) is told  # type: ignore[arg-type]
