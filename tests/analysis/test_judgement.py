"""`assay.analysis.judge` on numbers whose truth is known. Seeds are fixed; `make bench-truth` has the whole table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas
import pytest

from assay.analysis import Verdict, judge
from assay.analysis.comparison import verdict_of
from assay.errors import UsageError
from assay.record.metric import Better
from assay.stats.shift import Shift

CHANGED = ("regressed", "improved")
Noise = Callable[[np.random.Generator, int], np.ndarray]


def modes(rng: np.random.Generator, n: int, share: float = 0.5) -> np.ndarray:
    return rng.normal(0, 0.01, n) + 0.08 * (rng.random(n) < share)


NOISES: dict[str, Noise] = {
    "normal": lambda rng, n: rng.normal(0, 0.05, n),
    "skewed": lambda rng, n: rng.exponential(0.05, n),
    "heavy": lambda rng, n: rng.standard_t(3, n) * 0.03,
    "two modes": modes,
    "two modes, one rare": lambda rng, n: modes(rng, n, 0.3),
    "spikes": lambda rng, n: rng.normal(0, 0.02, n) + np.where(rng.random(n) < 0.04, rng.uniform(0.2, 0.7, n), 0),
}


@pytest.mark.parametrize("noise", NOISES)
def test_identical_code_in_pairs_is_seldom_called_changed(noise: str) -> None:
    rng = np.random.default_rng(11)
    draw = NOISES[noise]
    alarms = sum(judge(*np.exp([draw(rng, 10), draw(rng, 10)]), paired=True).verdict in CHANGED for _ in range(600))
    assert alarms <= 14, "1.3% of 600 and what chance adds to it"


@pytest.mark.parametrize("shared", ["nothing", "modes", "a step"])
def test_five_per_cent_are_found_with_ten_pairs_whatever_the_pairs_share(shared: str) -> None:
    rng = np.random.default_rng(12)
    found = 0
    for _ in range(200):
        both = {"nothing": np.zeros(10), "modes": 0.08 * (rng.random(10) < 0.5), "a step": 0.15 * (np.arange(10) > 4)}
        a, b = (both[shared] + rng.normal(0, 0.02, 10) for _ in range(2))
        found += judge(np.exp(a), np.exp(b + np.log(1.05)), paired=True).verdict is Verdict.REGRESSED
    assert found >= 178


@pytest.mark.parametrize(("share", "times", "pairs"), [(0.2, 10, 60), (0.3, 2, 10), (0.4, 2, 10)])
def test_runs_that_are_slow_sometimes_are_never_equivalent(share: float, times: float, pairs: int) -> None:
    rng = np.random.default_rng(13)
    for _ in range(100):
        a, b = np.exp(rng.normal(0, 0.01, (2, pairs)))
        b[: round(share * pairs)] *= times
        said = judge(a, rng.permutation(b), paired=True)
        assert said.verdict is not Verdict.EQUIVALENT
        assert f"{round(share * pairs)} of {pairs} runs" in "; ".join([said.reason, *said.notes])


def test_twelve_slow_runs_of_sixty_are_a_regression_and_an_improvement_the_other_way() -> None:
    a, b = np.exp(np.random.default_rng(14).normal(0, 0.01, (2, 60)))
    b[::5] *= 10
    assert judge(a, b, paired=True).verdict is Verdict.REGRESSED
    assert judge(b, a, paired=True).verdict is Verdict.IMPROVED
    assert judge(a, b, paired=True, better="higher").verdict is Verdict.IMPROVED


def test_an_interval_is_never_narrower_than_a_step_of_the_clock() -> None:
    said = judge([10.0] * 10, [11.0] * 10, paired=True)
    assert said.verdict is Verdict.INCONCLUSIVE
    assert said.interval is not None
    assert said.interval[0] <= 1.0 + 1e-9
    assert "steps of 10.0%" in said.notes[0]
    assert judge([100.0] * 10, [113.0] * 10, paired=True).verdict is Verdict.REGRESSED
    assert judge([10.0] * 10, [10.0] * 10, paired=True).verdict is Verdict.EQUIVALENT


def test_two_modes_are_named() -> None:
    rng = np.random.default_rng(15)
    a = np.exp(rng.normal(0, 0.002, 12) + 0.08 * (np.arange(12) % 2))
    assert "two groups" in "; ".join(judge(a, a[::-1]).notes)
    assert "two groups" not in "; ".join(judge(*np.exp(rng.normal(0, 0.02, (2, 12)))).notes)


def test_sessions_without_a_past_are_not_told_from_a_machine_that_moves() -> None:
    rng = np.random.default_rng(16)
    sides = [np.exp(rng.normal(0, 0.03) + rng.normal(0, 0.01, 10)) for _ in range(800)]
    said = [judge(a, b) for a, b in zip(sides[::2], sides[1::2], strict=True)]
    assert sum(one.verdict in CHANGED for one in said) <= 8
    assert any("assay ab" in one.reason for one in said)


def test_sessions_with_a_past_find_ten_per_cent() -> None:
    rng = np.random.default_rng(17)

    def verdict(effect: float) -> str:
        levels = rng.normal(0, 0.02, 22)
        runs = [np.exp(level + rng.normal(0, 0.02, 10)) for level in levels]
        return judge(runs[20], runs[21] * (1 + effect), history=[float(np.median(r)) for r in runs[:20]]).verdict

    assert sum(verdict(0.0) in CHANGED for _ in range(500)) <= 12
    assert sum(verdict(0.1) == "regressed" for _ in range(200)) >= 174


def test_a_night_is_named_then_believed_then_not_told_again() -> None:
    nights = list(np.exp(np.random.default_rng(18).normal(0, 0.02, 30)))
    first = judge([nights[-1]], [1.12], history=nights[:-1])
    assert (first.verdict, first.reason[:17]) == (Verdict.INCONCLUSIVE, "not confirmed yet")
    assert judge([1.12], [1.11], history=nights).verdict is Verdict.REGRESSED
    nights.append(1.12)
    for tonight in (1.1, 1.13, 1.12, 1.09, 1.11):
        assert judge([1.11], [tonight], history=nights).verdict not in CHANGED
        nights.append(1.11)
    assert judge([1.3], [1.31], history=nights).verdict is Verdict.REGRESSED, "it moved again"


def test_counts_zeros_and_negative_values_are_judged_by_differences() -> None:
    assert judge([0] * 10, [5, 4, 6, 5, 5, 7, 3, 5, 4, 6]).verdict is Verdict.REGRESSED
    assert judge([0, 0, 1, 0, 0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 1, 0, 0, 0]).verdict is Verdict.INCONCLUSIVE
    scores = np.random.default_rng(19).normal(-1.0, 0.02, (2, 10))
    assert judge(scores[0], scores[1] + 0.5, better="higher").verdict is Verdict.IMPROVED
    assert judge(scores[0], scores[1], better="higher").verdict is Verdict.INCONCLUSIVE


def test_exact_values_are_judged_from_one_run() -> None:
    halved = judge([4.0], [2.0], better="higher", exact=True)
    assert (str(halved.verdict), halved.ratio) == ("regressed", 0.5)
    assert halved.reason == "4 → 2, which is worse (an exact metric: any change counts)"
    assert judge([7], [7], exact=True).verdict is Verdict.EQUIVALENT
    text = judge(["a1"], ["b2"], exact=True)
    assert (text.verdict, text.reason[:21]) == (Verdict.REGRESSED, "changed: 'a1' → 'b2' ")
    assert judge([1, 2], [1], exact=True).verdict is Verdict.NOT_COMPARABLE
    assert judge(np.array([100]), np.array([50]), better="higher", exact=True).verdict is Verdict.REGRESSED
    assert judge([[1]], [[2]], exact=True).verdict is Verdict.REGRESSED
    assert judge([float("nan")], [float("nan")], exact=True).verdict is Verdict.EQUIVALENT
    assert judge([1.0], [float("nan")], exact=True).verdict is Verdict.REGRESSED
    assert judge([], [1], exact=True).reason == "base has no value"
    for size in (2**53, 10**400):
        assert judge([size], [size + 1], exact=True).verdict is Verdict.REGRESSED, "no float tells them apart"
    assert judge([True], [1], exact=True).verdict is Verdict.REGRESSED, "another type"


def test_what_cannot_be_told_is_said() -> None:
    assert "one run on each side" in judge([1.0], [1.2]).reason
    assert judge([], [1.0]).verdict is Verdict.NOT_COMPARABLE
    assert judge([float("nan")], [1.0]).verdict is Verdict.NOT_COMPARABLE
    with pytest.raises(UsageError, match="better is 'lower' or 'higher'"):
        judge([1.0], [1.0], better="more")  # type: ignore[arg-type]


def test_one_run_a_night_of_what_has_no_ratio_is_named_then_believed_then_not_told_again() -> None:
    def words(values: list[float], better: Better) -> list[str]:
        return [str(judge(values[at - 1], values[at], history=values[: at - 1], better=better).verdict)
                for at in range(30, len(values))]  # fmt: skip

    once = ["inconclusive", "regressed"]
    assert words([0.0] * 30 + [5.0, 5.0, 5.0, 5.0], "lower")[:2] == once
    assert "regressed" not in words([0.0] * 30 + [5.0, 5.0, 5.0, 5.0, 5.0], "lower")[2:]
    throughput = list(np.random.default_rng(20).normal(100, 2, 30))
    gone = words([*throughput, 0.0, 0.0, 0.0, 0.0], "higher")
    assert (gone[:2], "regressed" in gone[2:], "equivalent" in gone[:2]) == (once, False, False)
    scores = list(np.random.default_rng(21).normal(-1, 0.02, 30))
    assert words([*scores, -1.5, -1.52], "higher") == once
    assert judge(0, 0, history=[0] * 30).verdict is Verdict.EQUIVALENT
    assert judge([0], [5], history=[0] * 30).reason == "not confirmed yet: 0 → 5; the next session will tell"


def test_nights_of_rare_counts_raise_no_alarm() -> None:
    rng = np.random.default_rng(22)
    for rate in (0.05, 0.3, 2.0):
        said = [judge(nights[-2], nights[-1], history=nights[:-2]).verdict for nights in rng.poisson(rate, (400, 32))]
        assert sum(verdict in CHANGED for verdict in said) <= 6, rate


def test_one_run_of_zero_on_each_side_is_one_run() -> None:
    assert judge([0], [0]).reason == "can't tell from one run on each side: 0 on both sides"
    assert judge([0] * 6, [0] * 6).verdict is Verdict.EQUIVALENT


def test_a_difference_within_the_margin_is_not_called_chance() -> None:
    rng = np.random.default_rng(23)
    said = judge(rng.normal(-100, 0.01, 10), rng.normal(-101, 0.01, 10))
    assert (said.verdict, said.reason[:31]) == ("inconclusive", "can't tell if it matters: -100 ")


def test_equal_values_have_one_mode_however_floats_are_rounded() -> None:
    assert not [note for note in judge([1.0] * 10, [1.2] * 10, paired=True).notes if "two groups" in note]


@pytest.mark.parametrize(
    ("sides", "options", "message"),
    [
        ((["a"], ["b"]), {}, r"base\[0\] is 'a' \(str\), not a number"),
        (([[1, 2]], [1]), {}, r"base\[0\] is \[1, 2\] \(list\)"),
        (([1], {1: 2}), {}, "head is {1: 2} .*no order"),
        ((None, [1]), {}, "base is None"),
        (([1], [1]), {"history": "abc"}, r"history\[0\]"),
        (([1], [1]), {"margin": -1}, "margin is a share"),
        (([1], [1]), {"margin": "5%"}, "margin is a share"),
        (([1] * 7, [1] * 8), {"paired": True}, "base has 7 runs and head 8"),
    ],
)
def test_what_are_no_numbers_is_said_so(sides: tuple[Any, Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        judge(*sides, **options)


def test_any_kind_of_sequence_will_do() -> None:
    runs = np.exp(np.random.default_rng(24).normal(0, 0.02, 10))
    slower = judge(runs, runs * 1.2)
    for kind in (list, tuple, iter, lambda values: pandas.Series(values, index=range(5, 15))):
        assert judge(kind(runs), kind(runs * 1.2)) == slower
    assert judge(1.0, 1.2) == judge([1.0], [1.2])
    assert judge([1.0, float("nan")], [1.0]).reason == "base[1] is nan: each run needs a finite number"
    nights = [1.0, float("inf"), None, 1.01] * 10
    assert judge(1.0, 1.01, history=nights) == judge(1.0, 1.01, history=[1.0, 1.01] * 10)


def test_a_few_slow_runs_a_night_are_never_equivalent() -> None:
    rng = np.random.default_rng(25)
    nights, usual = np.exp(rng.normal(0, 0.005, 30)), np.exp(rng.normal(0, 0.005, 5))
    assert judge(usual, usual, history=nights).verdict is Verdict.EQUIVALENT
    said = judge(usual, [*usual[:3], 10.0, 10.0], history=nights)
    assert said.verdict is Verdict.INCONCLUSIVE
    assert said.reason.startswith("can't tell: the typical run is within 3%, but 2 of 5 runs in head gave 10")
    assert judge([0] * 5, [0, 0, 0, 50, 50], history=[0] * 30).verdict is Verdict.INCONCLUSIVE


def test_one_question_is_not_blamed_on_the_rows_of_a_table() -> None:
    shift = Shift(0.1, 0.01, 0.19, 0.03, 0.09, 10, 0)
    alone = verdict_of(shift, "lower", 0.03, 0.03, "try 20 pairs")
    assert alone == (Verdict.INCONCLUSIVE, "can't tell: 10.5% higher, which may be chance; try 20 pairs")
    among = verdict_of(replace(shift, p=0.02), "lower", 0.03, 0.2)
    assert among[1] == (
        "can't tell: 10.5% higher, but among so many metrics one looks so by chance; run this entry alone"
    )
