from __future__ import annotations

from dataclasses import replace

import pytest

from assay.analysis import Comparison, Row, Verdict
from assay.analysis.judgement import looks, open_entries
from assay.experiments.calibration import confirm, suspects

ROW = Row("e", "time_s", Verdict.INCONCLUSIVE, "", better="lower", ratio=1.02, low=0.97, high=1.07, margin=0.03,
          floor=0.05, base_runs=10, head_runs=10)  # fmt: skip


def test_looks_after_blocks_and_at_the_end() -> None:
    assert looks(60) == [10, 20, 30, 40, 50, 60]
    assert looks(25) == [10, 20, 25]
    assert looks(4) == [4]
    with pytest.raises(ValueError):
        looks(0)


def test_it_goes_on_while_more_pairs_could_decide() -> None:
    for undecided in (ROW, replace(ROW, low=1.015, high=1.025), replace(ROW, low=0.5, high=2.0, floor=1.0)):
        assert open_entries(Comparison("A", "B", (undecided,))) == {"e"}, undecided
    for done in (replace(ROW, verdict=Verdict.EQUIVALENT), replace(ROW, better=None)):
        assert open_entries(Comparison("A", "B", (done,))) == set(), done


def test_a_verdict_on_cpu_time_settles_the_clock() -> None:
    clock = replace(ROW, metric="exec_time_s")
    cpu = replace(ROW, metric="usage.cpu_s", verdict=Verdict.REGRESSED)
    assert open_entries(Comparison("A", "B", (clock, cpu))) == set()
    same = replace(cpu, verdict=Verdict.EQUIVALENT)
    assert open_entries(Comparison("A", "B", (clock, same))) == {"e"}


def test_a_regression_stands_only_if_fresh_pairs_say_so() -> None:
    first = Comparison("A", "B", (replace(ROW, verdict=Verdict.REGRESSED, reason="+9%"), ROW))
    assert suspects(first) == {"e"}
    for second, verdict in (
        (replace(ROW, verdict=Verdict.REGRESSED), Verdict.REGRESSED),
        (replace(ROW, verdict=Verdict.EQUIVALENT), Verdict.INCONCLUSIVE),
    ):
        assert confirm(first, Comparison("A", "B", (second,))).rows[0].verdict is verdict
    gone = confirm(first, Comparison("A", "B", ())).rows[0]
    assert gone.verdict is Verdict.INCONCLUSIVE
    assert "could not be run again" in gone.reason
