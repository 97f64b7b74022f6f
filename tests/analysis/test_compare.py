from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.records import noisy, record, side

from assay.analysis import Comparison, MetricRule, Row, Rules, Verdict, compare
from assay.record import Outcome, Record, Usage


def _row(comparison: Comparison, metric: str = "time_taken_s") -> Row:
    return next(row for row in comparison.rows if row.metric == metric)


@pytest.mark.parametrize(
    ("metric", "factor", "verdict"),
    [
        ("time_taken_s", 1.3, Verdict.REGRESSED),
        ("time_taken_s", 0.7, Verdict.IMPROVED),
        ("time_taken_s", 1.0, Verdict.EQUIVALENT),
        ("rows_per_s", 1.3, Verdict.IMPROVED),
        ("rows_per_s", 0.7, Verdict.REGRESSED),
        ("num_rows", 1.3, Verdict.NOT_COMPARABLE),
        ("num_rows", 1.0, Verdict.EQUIVALENT),
    ],
)
@pytest.mark.parametrize("paired", [True, False])
def test_the_verdict_follows_the_direction(metric: str, factor: float, verdict: Verdict, paired: bool) -> None:
    base, head = side(noisy(10, 0.005), metric), side(noisy(10 * factor, 0.005, seed=1), metric, session="head")
    row = _row(compare(base, head, paired=paired), metric)
    assert row.verdict is verdict, row.reason
    assert row.ratio == pytest.approx(factor, rel=0.02)
    assert row.design == ("paired" if paired else "unpaired")


def test_a_regression_names_change_and_margin() -> None:
    row = _row(compare(side(noisy(10)), side(noisy(13, seed=1))))
    assert row.reason.startswith("30")
    assert "% slower (noise alone rarely exceeds " in row.reason
    assert row.low is not None
    assert row.low > 1 > row.margin


@pytest.mark.parametrize("n", [2, 3])
def test_too_few_runs_say_how_many_more(n: int) -> None:
    row = _row(compare(side([1.0] * n), side([2.0] * n)))
    assert row.verdict is Verdict.INCONCLUSIVE
    more = f"{4 - n} more"
    assert row.reason == (
        f"can't tell from {n} and {n} runs; needs {more} in A and {more} in B: try `assay ab`, or `repeat: 6`"
    )
    assert row.ratio == 2.0
    assert _row(compare(side([1.0] * n), side([2.0] * n), paired=True)).reason.endswith(": try `--pairs 10`")


@pytest.mark.parametrize("runs", [(4, 6), (6, 4), (5, 6), (4, 4)])
def test_of_six_runs_two_may_be_missing(runs: tuple[int, int]) -> None:
    """`repeat: 6` leaves room for runs that failed."""
    base, head = side(noisy(10, 0.005, runs[0])), side(noisy(15, 0.005, runs[1], seed=2))
    assert _row(compare(base, head)).verdict is Verdict.REGRESSED


def test_only_the_side_that_lacks_runs_is_told_how_many() -> None:
    reason = _row(compare(side(noisy(10, 0.005, 6)), side(noisy(15, 0.005, 3)))).reason
    assert reason == "can't tell from 6 and 3 runs; needs 1 more in B: try `assay ab`, or `repeat: 6`"


def test_one_run_on_each_side_says_what_would_tell() -> None:
    row = _row(compare(side([1.0]), side([2.0])))
    assert (row.verdict, row.ratio) == (Verdict.INCONCLUSIVE, 2.0)
    assert row.reason == "can't tell from one run on each side; needs 3 more on each: try `assay ab`, or `repeat: 6`"


def test_noise_is_inconclusive_and_says_what_would_help() -> None:
    row = _row(compare(side(noisy(10, 0.2)), side(noisy(11, 0.2, seed=3))))
    assert row.verdict is Verdict.INCONCLUSIVE
    assert "assay ab" in row.reason, "more runs would not tell the code from the machine"


def test_different_parameters_are_named_not_compared() -> None:
    base = side(noisy(1), params={"workers": 1, "input": "a"})
    head = side(noisy(1), params={"workers": 4, "input": "a"}, session="head")
    only = compare(base, head).rows
    assert [row.verdict for row in only] == [Verdict.NOT_COMPARABLE]
    assert only[0].reason == "different parameters: workers 1 → 4 (`assay compare --anyway` compares them)"
    across = _row(compare(base, head, across=True))
    assert across.verdict is Verdict.EQUIVALENT


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"machine": "other"}, "different kind of machine: m → other"),
        ({"outcome": Outcome.CRASHED}, "ended as crashed"),
    ],
)
def test_what_must_not_be_compared_says_why(change: dict[str, object], reason: str) -> None:
    rows = compare(side(noisy(1)), side(noisy(1), session="head", **change)).rows
    assert rows[0].verdict is Verdict.NOT_COMPARABLE
    assert reason in rows[0].reason


def test_entries_and_metrics_of_one_side_only() -> None:
    base = [*side(noisy(1)), record("gone", {"x_s": 1.0})]
    head = [record(metrics={"time_taken_s": 1.0, "new_s": 2.0}, run=i) for i in range(1, 8)]
    found = {(row.entry, row.metric): row.reason for row in compare(base, head).rows}
    assert found[("gone", "")] == "only in A"
    assert found[("entry", "new_s")] == "only in B"


def test_warm_ups_and_repeated_attempts_are_left_out() -> None:
    base = side(noisy(1))
    head = [*side(noisy(1, seed=1)), record(metrics={"time_taken_s": 99.0}, run=50, warmup=True)]
    assert _row(compare(base, head)).head_runs == 10


def test_margins_by_default_entry_metric_and_calibration() -> None:
    base, head = side(noisy(10, 0.003)), side(noisy(10.8, 0.003, seed=1))
    key = base[0].fingerprint.key
    assert _row(compare(base, head, paired=True)).verdict is Verdict.REGRESSED
    for rules in (
        Rules().with_margins(["15%"]),
        Rules().with_margins(["time_*=0.15"]),
        Rules().with_margins(["entry:time_taken_s=15%"]),
        Rules(floors={(key, "time_taken_s"): 0.15}),
    ):
        assert _row(compare(base, head, rules=rules, paired=True)).verdict is Verdict.EQUIVALENT
    other = Rules().with_margins(["other:*=15%"])
    assert _row(compare(base, head, rules=other, paired=True)).verdict is Verdict.REGRESSED


def test_a_margin_of_the_configuration_travels_with_the_record() -> None:
    base = side(noisy(10, 0.003), margins={"time_taken_s": 0.15})
    head = side(noisy(10.8, 0.003, seed=1), margins={"time_taken_s": 0.15})
    assert _row(compare(base, head, paired=True)).verdict is Verdict.EQUIVALENT
    assert _row(compare(base, head, rules=Rules().with_margins(["*=3%"]), paired=True)).verdict is Verdict.REGRESSED


def test_what_is_not_judged_has_no_row_and_leaves_the_correction_of_the_others() -> None:
    """Forty idle metrics beside one that changed: at 11% noise it is one of many; left out, they cost it nothing."""
    rng = np.random.default_rng(2)
    idle = [f"idle{i}_s" for i in range(40)]

    def runs(factor: float) -> list[Record]:
        measured = [dict(zip(idle, np.exp(rng.normal(0, 0.05, 40)), strict=True)) for _ in range(6)]
        times = factor * np.exp(rng.normal(0, 0.11, 6))
        return [
            record(metrics={**others, "time_taken_s": time}, run=i + 1)
            for i, (others, time) in enumerate(zip(measured, times, strict=True))
        ]

    base, head = runs(1.0), runs(1.45)
    among = _row(compare(base, head))
    assert "among so many metrics" in among.reason
    alone = compare(base, [replace(run, unjudged=tuple(idle)) for run in head])
    assert _row(alone).verdict is Verdict.REGRESSED
    assert not [row for row in alone.rows if row.metric in idle]


def test_where_nothing_of_an_entry_is_judged_that_is_the_reason() -> None:
    everything = tuple(side(noisy(10))[0].metrics)
    found = compare(side(noisy(10)), side(noisy(13, seed=1), unjudged=everything))
    assert [(row.metric, row.verdict) for row in found.rows] == [("", Verdict.NOT_COMPARABLE)]
    assert "`judged: false`" in found.reason
    assert (found.exit_code(), found.exit_code(strict=True)) == (0, 4)


def test_a_declared_direction_wins() -> None:
    rules = Rules({("*", "time_taken_s"): MetricRule(better="higher")})
    row = _row(compare(side(noisy(10)), side(noisy(13, seed=1)), rules=rules))
    assert row.verdict is Verdict.IMPROVED


def test_many_rows_of_the_same_code_raise_no_alarm() -> None:
    """Two hundred metrics of identical code at 5% noise: row by row at p < .05, ten would be called changed."""
    rng = np.random.default_rng(5)
    runs = [
        {f"m{i}_s": float(v) for i, v in enumerate(np.exp(rng.normal(0, 0.05, 200)))} for _ in range(20)
    ]  # fmt: skip
    base = [record(metrics=metrics, run=i + 1) for i, metrics in enumerate(runs[:10])]
    head = [record(metrics=metrics, run=i + 1, session="head") for i, metrics in enumerate(runs[10:])]
    changed = [row for row in compare(base, head, paired=True).rows if row.verdict in ("improved", "regressed")]
    assert changed == []


def test_zeros_and_constants() -> None:
    zero, one = side([0.0] * 6, "errors"), side([3.0] * 6, "errors", session="head")
    assert _row(compare(zero, zero), "errors").verdict is Verdict.EQUIVALENT
    worse = _row(compare(zero, one), "errors")
    assert worse.verdict is Verdict.REGRESSED
    assert worse.reason.startswith("0 → 3, which is worse")
    mixed = side([0.0, 1.0, 0.0, 2.0, 0.0, 1.0], "errors")
    assert _row(compare(zero, mixed), "errors").verdict is Verdict.INCONCLUSIVE, "four errors may be chance"


def test_nan_and_words_are_not_compared() -> None:
    runs = [record(metrics={"time_taken_s": float("nan"), "model": "x", "ok": True}, run=i) for i in range(8)]
    assert [row.metric for row in compare(runs, runs).rows if row.metric != "exec_time_s"] == ["time_taken_s"]
    row = _row(compare(runs, runs))
    assert (row.verdict, row.reason) == (Verdict.NOT_COMPARABLE, "no finite number on either side")


def test_a_busier_machine_is_said_beside_the_result() -> None:
    busy = Usage(wall_s=1.0, cpu_s=0.9, neighbour_cpu_s=1.2, steal_share=0.1, samples=1)
    row = _row(compare(side(noisy(10)), side(noisy(30, seed=1), usage=busy, session="head")))
    assert row.verdict is Verdict.REGRESSED
    assert "CPUs kept busy by other processes: 0.0 in A, 1.2 in B" in row.notes
    assert any(note.startswith("CPU time taken by the hypervisor") for note in row.notes)


def test_regression_detected_is_true_false_or_unknown() -> None:
    base = side(noisy(10))
    quick = Rules({("*", "exec_time_s"): MetricRule(better="lower")})
    worse, same = compare(base, side(noisy(13, seed=1)), rules=quick), compare(base, side(noisy(10, seed=1)))
    few = compare(base[:2], base[:2])
    assert (worse.regression_detected, worse.exit_code()) == (True, 3)
    assert (same.regression_detected, same.exit_code(strict=True)) == (False, 0)
    assert (few.regression_detected, few.exit_code(), few.exit_code(strict=True)) == (None, 0, 4)
    assert "can't tell from" in few.reason
    assert compare([], []).regression_detected is None
