"""Every sentence about results, printed: each function of each surface, with cases that reach each of its branches."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import inf, log
from pathlib import Path
from typing import Any

import pytest
from sentence_catalogue import (
    Cases,
    assert_accepted,
    assert_all_are_there,
    assert_golden,
    assert_plain,
    commands,
    said,
)

from assay.analysis import Comparison, Row, Verdict
from assay.analysis.conditions import Difference
from assay.analysis.sentences import (
    comparison_sentences,
    conclusion_sentences,
    insight_sentences,
    note_sentences,
    summary_sentences,
    value_sentences,
    verdict_sentences,
)
from assay.analysis.sentences.metric_words import A_AND_B, BEFORE_AND_NOW, MetricWords
from assay.record.metric import Better
from assay.stats.shift import Shift

GOLDEN = Path(__file__).parent / "golden" / "sentences.txt"

TIME = MetricWords.of("sort_s", "s", "lower")
RATE = MetricWords.of("rows_per_s", "rows/s", "higher")
MEMORY = MetricWords.of("usage.peak_rss_mb", "MB", "lower")
SCORE = MetricWords.of("accuracy", None, "higher")
PLAIN = MetricWords.of("num_rows", None, None)


def shift(ratio: float, low: float | None = None, high: float | None = None, floor: float = 0.0) -> Shift:
    near = log(low if low is not None else ratio * 0.99), log(high if high is not None else ratio * 1.01)
    return Shift(log(ratio), *near, 0.001, floor, 10, 0)


BUSIER = note_sentences.machine_busier(("in A", "in B"), "1.7 cores used by others", "0.1")
OPEN = Shift(0.1, -inf, inf, 1.0, inf, 1, 0)
TRY = verdict_sentences.more_pairs(60)
ROW = Row("sort", "sort_s", Verdict.REGRESSED, "15.0% slower (changes under 3% are ignored)", "s", "lower",
          2.0, 2.3, 1.15, 1.12, 1.18, margin=0.03, base_runs=6, head_runs=6)  # fmt: skip
SAME = replace(ROW, verdict=Verdict.EQUIVALENT, ratio=1.0)
NUMPY = Difference("package", "numpy", "2.4.5", "2.4.6")
COMPARED = Comparison("monday", "tuesday", (ROW, replace(SAME, base_runs=1, head_runs=2)), environment=(NUMPY,))

CASES: Cases = {
    verdict_sentences: {
        "more_pairs": [(60,)],
        "no_change": [(0.03,), (0.005,), (0.124,)],
        "change": [
            (TIME, shift(1.15), 0.03), (TIME, shift(0.9), 0.03), (TIME, shift(10), 0.03), (TIME, shift(0.1), 0.03),
            (RATE, shift(0.89), 0.03), (RATE, shift(2.5), 0.03), (MEMORY, shift(1.2), 0.03), (SCORE, shift(0.8), 0.03),
            (PLAIN, shift(1.2), 0.03), (TIME, shift(1.251, floor=log(1.124)), 0.03), (TIME, shift(1.15), 0.0),
            (TIME, shift(0.9705), 0.03), (TIME, shift(1.0002), 0.0001),
        ],
        "holds_no_change": [
            (TIME, shift(1.1, 0.67, 1.55), TRY), (SCORE, shift(1.1, 0.67, 2.5), TRY),
            (TIME, shift(1.1, 0.9999, 1.55), TRY), (TIME, OPEN, TRY),
        ],
        "within_noise": [(TIME, shift(1.09, floor=log(1.12)), verdict_sentences.IN_TURN)],
        "may_be_chance": [(RATE, shift(0.9), verdict_sentences.NEXT_SESSIONS)],
        "one_of_many": [(TIME, shift(1.1))],
        "near_the_margin": [(TIME, shift(1.025, 1.01, 1.048), 0.03), (RATE, shift(0.98, 0.95, 0.99), 0.03)],
        "no_direction": [("12.0% higher",)],
        "sometimes_slow": [(12, 60, 10.0, "in B", "in A"), (2, 5, 3.21, "now", "before")],
        "typical_unchanged": [(0.03, "2 of 5 runs in B gave 10.0 times the usual value in A")],
        "lasting_change": [(TIME, log(1.15), log(1.08)), (SCORE, log(0.8), log(1.08))],
        "first_change": [(TIME, log(1.15), log(1.08))],
        "as_sessions_differ": [(TIME, log(1.02), log(1.08)), (TIME, 0.0, log(1.08))],
        "load_explains": [(TIME, 0.663, BUSIER, 2.54), (RATE, 0.9, BUSIER, 1.2)],
        "load_hides": [(0.03, BUSIER, 1.2)],
        "few_runs": [
            (((1, 1), 4, A_AND_B), {"paired": False}), (((1, 1), 6, A_AND_B), {"paired": True}),
            (((1, 1), 4, A_AND_B), {"paired": False, "samples": 60}),
            (((2, 3), 4, BEFORE_AND_NOW), {"paired": False}), (((2, 5), 6, A_AND_B), {"paired": True}),
        ],
        "few_values": [(1, 1), (2, 5)],
        "not_confirmed": [("9.0% slower", None), ("9.0% slower", "unchanged, within 3%")],
    },
    value_sentences: {
        "too_few": [(TIME, 0.0, 5.0, (1, 1)), (PLAIN, 0.0, 0.0, (2, 3))],
        "always": [(TIME, 0.0)],
        "differs": [(PLAIN, 0.0, 5.0), (SCORE, -1.0, -0.5), (TIME, 0.0, 3.0)],
        "differs_little": [(SCORE, -100.0, -101.0, 0.03)],
        "may_be_chance": [(SCORE, -1.0, -1.1)],
        "for_sessions": [(SCORE, -1.0, -1.5)],
        "once": [(PLAIN, 0.0, 5.0)],
        "runs_differ": [(MEMORY, 0.0, 50.0)],
        "as_ever": [(MEMORY, 0.0)],
        "as_sessions_differ": [(SCORE, -1.0, -1.1, 0.2)],
        "exactly_same": [("4",)],
        "exactly_changed": [("4 → 2 ×", ", which is worse")],
        "within_margin": [("4 → 3.9", 0.05)],
        "change_without_order": [("'a1' → 'b2'",)],
        "change_without_direction": [("100 → 90 rows",)],
        "number_lost": [("0.9 → nan",)],
        "number_found": [("nan → 0.9",)],
        "only": [("in A",), ("before",)],
        "nothing_judged": [()],
        "no_number": [("in B",), ("on either side",)],
        "not_measured": [("in B", "sort-2", "timeout")],
        "other_parameters": [("workers 1 → 4",), ("",)],
        "other_part": [
            ("machine", "8 cores", "16 cores"), ("workload", "version 1", "version 2"), ("workload", "", "version 2"),
            ("entry", "a", "b"),
        ],
        "new_series": [("sort", ["workload_version 1 → 2"])],
        "refusal": [(["different parameters: workers 1 → 4"],)],
        "not_exact_values": [("in A", "4 and 4.1")],
    },
    note_sentences: {
        "steps": [(0.1,)],
        "two_groups": [("in A", 4, 10, 0.08)],
        "pairs_left_out": [(1,), (2,)],
        "sessions_compared": [(15,), (1,), ((3,), {"since_a_change": True})],
        "confirmation": [(10, "9.0% slower (changes under 3% are ignored)")],
        "condition": [("CPU time taken by the hypervisor", "1%", "before", "20%", "now")],
        "not_exact": [("in A", "4 and 4.1")],
        "machine_busier": [(("in A", "in B"), "1.7 cores used by others", "0.1")],
        "machine_moved": [("still sort_s 20.0% slower",)],
    },
    conclusion_sentences: {
        "name_first": [(["a", "b"],), (["a", "b", "c"], ", ", 1)],
        "verdict_word": [("equivalent",), ("regressed",)],
        "count_verdicts": [({"regressed": 1, "inconclusive": 5, "equivalent": 37, "improved": 0},), ({},)],
        "also_regressed": [("B failed: sort: exited with code 1", "sort sort_s (15.0% slower)")],
        "regression": [("sort", "sort_s", "15.0% slower (changes under 3% are ignored)")],
        "count_regressed": [(1, 1, ""), (2, 9, "1 improved, 6 unchanged")],
        "count_undecided": [(5, 7), (1, 1), (5, 7, "sort sort_s: can't tell from one run on each side")],
        "no_direction": [()],
        "missing_metrics": [("sort sort_s",)],
        "nothing_worse": [(1, 0), (3, 1), (3, 2)],
        "first_run": [()],
        "nothing_in_common": [()],
        "failure": [("B", " in 3 of 10 runs", "sort", "exited with code 1")],
        "failure_count": [(3, 10), (10, 10)],
        "same_failure": [(("A", "B"), (10, 10), (10, 10), "sort: boom"), (("A", "B"), (2, 10), (10, 10), "sort: boom")],
    },
    summary_sentences: {
        "change": [
            ("regressed", "sort sort_s", TIME, (2.0, 2.3), 1.15, (1.12, 1.18)),
            ("improved", "sort rows", SCORE, (None, 0.9), None, (None, None)),
            ("regressed", "sort errors", PLAIN, (0.0, 5.0), None, (None, None)),
        ],
        "change_without_order": [("sort digest", "changed: 'aa' → 'bb'; whether that is right is yours to say")],
        "more": [(3, "monday", "tuesday"), (3, "2 earlier sessions", "tuesday")],
        "rest": [
            (("monday", {"equivalent": 2}), {"compared": True, "changes": False}),
            (("monday", {"equivalent": 1}), {"compared": True, "changes": False}),
            (("monday", {"equivalent": 2, "inconclusive": 5}), {"compared": True, "changes": False}),
            (("monday", {"not comparable": 2}), {"compared": False, "changes": False}),
            (("monday", {"equivalent": 2}), {"compared": True, "changes": True}),
        ],
        "why_open": [(5, 5, "can't tell from one run on each side"), (2, 5, "can't tell from one run on each side")],
    },
    insight_sentences: {
        "slow_stage": [
            (("sort", 0.8, 3), {"seconds": 8.0, "everything": 10.0, "calls": 1, "wall": 12.0, "gain": 1.5}),
            (("sort", 0.8, 3), {"seconds": 8.0, "everything": 10.0, "calls": 5, "wall": 6.0, "gain": 1.67}),
        ],
        "slow_stage_of_pipeline": [(("api", "sort", 0.8, 3), {"seconds": 8.0, "everything": 10.0, "calls": 4})],
        "below_the_limit": [("assay-fast", 0.8, 1.2, 1.5, "try clustering"), ("zip", 0.8, None, None, "")],
        "few_differences": [("assay-fast", 0.2)],
        "smaller_setting": [("assay-fast", "small"), ("assay-small", "")],
        "wrong_tensors": [("zip", 2.0)],
        "slowdown": [("api", "p99", "batch", 1.4, 1.2, 1.6, ", over 3 rounds"), ("api", "p99", "", 1.4, 1.2, None, "")],
        "knee": [("sweep", "rate", 50.0, 200.0, "p99_s 0.02 at 10, 0.3 at 100")],
        "falls_behind": [("api", 100.0, 70.0)],
        "warm_up": [("sort_s", "warm-up: the first 3 of 30 iterations differ from the rest", 0.021, -0.01, "wait"),
                    ("sort_s", "warm-up: the first 3 of 30 iterations differ from the rest", 0.0, 0.02, "wait")],
        "not_settled": [()],
        "gets_worse": [()],
        "iterate_before": [(1,), (3,)],
        "outliers": [("sort_s", 1, 30, 7, 2.5, 1.0), ("sort_s", 2, 30, 7, 2.5, 1.0)],
        "noisy": [("sort_s", 0.15, 8, 0.9, 1.3, 0.15)],
        "disturbance": [((1, 1, "sort-1", "other processes kept 1.2 CPUs busy"), {"shared": True}),
                      ((1, 6, "sort-3", "other processes kept 1.2 CPUs busy"), {"shared": True}),
                      ((2, 6, "sort-3", "its CPU quota held it back for 9% of the time"), {"shared": False})],
        "leaks": [("commit", "commit_leaks", 1.2, 1.0, 1.4), ("commit", "commit_leaks", None, None, None)],
        "rises": [(1.5, 100.0, 400.0)],
        "steep": [("time over rows", 1.5, 1.3, 1.7)],
        "inefficient": [("workers", 0.5)],
    },
    comparison_sentences: {
        "sides": [(COMPARED,), (Comparison("A: ./a", "B: ./b", (ROW,)),), (Comparison("a", "b", ()),)],
        "change": [(ROW,), (replace(ROW, ratio=None, reason="0 → 5, which is worse"),), (SAME,)],
        "together": [(4, "can't tell from one run on each side"), (2, "only in A")],
        "count_unchanged": [([SAME],), ([SAME, replace(SAME, margin=0.1)],), ([replace(SAME, margin=0.0)],)],
    },
}  # fmt: skip


SAID = said(CASES)


def test_every_sentence_is_printed_here() -> None:
    assert_all_are_there(CASES)


def test_they_read_as_they_did() -> None:
    assert_golden(GOLDEN, SAID)


@pytest.mark.parametrize(("where", "text"), SAID)
def test_a_sentence_is_short_and_plain(where: str, text: str) -> None:
    # The report's tables have a median beside every spread: there the word is explained.
    assert_plain(text.replace("median", "") if "insight" in where else text)


@pytest.mark.parametrize("command", commands(SAID))
def test_a_command_that_is_advised_is_one(command: str) -> None:
    assert_accepted(command)


@pytest.mark.parametrize("kind", ["time", "rate", "cpu", "memory", "bytes", "other"])
def test_words_follow_the_numbers(kind: Any) -> None:
    """Larger ratios are never called less, and nothing but equality is called none."""
    words = MetricWords(kind, None)
    ratios = [0.01, 0.5, 0.9, 0.9999, 1.0, 1.0001, 1.1, 1.99, 2.0, 100.0, 1e9]
    assert [words.change(ratio) == "no difference" for ratio in ratios] == [ratio == 1.0 for ratio in ratios]
    assert len({words.change(ratio) for ratio in ratios}) == len(ratios)
    for low, high in pairwise(ratios):
        assert words.range(low, high) != words.change(low)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (450_123.0, "450,100 1/s"),
        (9_999.9, "10,000 1/s"),
        (1234.5, "1234 1/s"),
        (-2e6, "-2,000,000 1/s"),
        (0.5, "0.5 1/s"),
    ],
)
def test_a_large_value_is_no_power_of_ten(value: float, said: str) -> None:
    assert MetricWords("rate", "higher", "1/s").value(value) == said


@pytest.mark.parametrize(
    ("metric", "unit", "better", "words"),
    [
        ("exec_time_s", "s", "lower", "10.0% slower"),
        ("latency_p99", "ms", "lower", "10.0% slower"),
        ("usage.cpu_s", "s", "lower", "10.0% more CPU time, which is worse"),
        ("rows_per_s", None, "higher", "10.0% faster"),
        ("usage.peak_rss_mb", "MB", "lower", "10.0% more memory, which is worse"),
        ("stored_bytes", None, "lower", "10.0% more, which is worse"),
        ("memory_errors", None, "lower", "10.0% higher, which is worse"),
        ("time_to_failure_s", "s", "higher", "10.0% higher, which is better"),
        ("audio_s", "s", None, "10.0% higher"),
        ("hit_rate", None, "higher", "10.0% higher, which is better"),
        ("", None, "lower", "10.0% higher, which is worse"),
    ],
)
def test_the_words_are_those_of_the_metric(metric: str, unit: str | None, better: Better | None, words: str) -> None:
    assert MetricWords.of(metric, unit, better).judge_change(1.1) == words
