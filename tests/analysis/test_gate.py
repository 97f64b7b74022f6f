"""A gate is green only when something was compared and nothing failed."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from session_factory import START, MadeRun, make_session
from tests.analysis.records import noisy, record, side

from assay.analysis import Comparison, Row, Verdict, compare
from assay.analysis.comparison import Failure, failure_lines
from assay.cli.main import main
from assay.record import Outcome, Record

BROKEN = Failure("B", "sort", "exited with code 1", 10, 10)


def _failed(n: int) -> list[MadeRun]:
    return [
        MadeRun("sort", outcome=Outcome.FAILED, reasons=("exited with code 1: boom",), repeat=i + 1, repeats=n)
        for i in range(n)
    ]


def _passed(n: int = 8, level: float = 1.0, seed: int = 0, entry: str = "sort") -> list[MadeRun]:
    return [
        MadeRun(entry, {"sort_s": float(v)}, repeat=i + 1, repeats=n)
        for i, v in enumerate(noisy(level, 0.003, n, seed))
    ]


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_RESULTS_DIR", str(tmp_path))
    make_session(tmp_path, _passed(), name="base", started=START)
    return tmp_path


def _compare(results: Path, head: list[MadeRun], *words: str) -> int:
    make_session(results, head, name="head", started=START + timedelta(days=1))
    return main(["compare", "base", "head", *words])


@pytest.mark.parametrize(
    ("failures", "lines"),
    [
        ([BROKEN], ["B failed: sort: exited with code 1"]),
        ([Failure("B", "sort", "was ended by signal SIGSEGV", 3, 10)],
         ["B failed in 3 of 10 runs: sort: was ended by signal SIGSEGV"]),
        ([Failure("A", "sort", "exited with code 1", 10, 10), BROKEN],
         ["A and B failed in the same way: sort: exited with code 1"]),
        ([Failure("A", "sort", "exited with code 1", 2, 10), BROKEN],
         ["A failed in 2 of 10 runs and B in 10 of 10, in the same way: sort: exited with code 1"]),
        ([Failure("A", "sort", "exited with code 2", 10, 10), BROKEN],
         ["A failed: sort: exited with code 2", "B failed: sort: exited with code 1"]),
        ([Failure("A", "load", "exited with code 1", 10, 10), BROKEN],
         ["A failed: load: exited with code 1", "B failed: sort: exited with code 1"]),
    ],
)  # fmt: skip
def test_failures_are_named_with_side_count_and_reason(failures: list[Failure], lines: list[str]) -> None:
    assert failure_lines(failures) == lines


def test_a_head_that_fails_is_red(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _compare(results, _failed(8), "--format", "json") == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["exit_code"], said["answer"], said["regression_detected"]) == (1, "failed", None)
    assert said["reason"] == "B failed: sort: exited with code 1: boom"
    assert said["failures"][0]["failed"] == 8


def test_a_head_that_fails_now_and_then_is_red_though_the_rest_is_equivalent(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = [MadeRun("sort", outcome=Outcome.CRASHED, reasons=("was ended by signal SIGSEGV",), repeat=9, repeats=9)]
    assert _compare(results, [*_passed(seed=1), *broken]) == 1
    said = capsys.readouterr().out
    assert "4 metrics unchanged" in said
    assert "failed: B failed in 1 of 9 runs: sort: was ended by signal SIGSEGV" in said


def test_a_failure_and_a_regression_are_both_said() -> None:
    base = side(noisy(10))
    head = [*side(noisy(15, seed=1), session="head"), record(outcome=Outcome.TIMEOUT, run=50, reasons=("too long",))]
    comparison = compare(base, head)
    assert (comparison.exit_code(), comparison.regression_detected) == (1, True)
    assert comparison.reason.startswith("B failed in 1 of 11 runs: entry: too long; also regressed: entry time_taken_s")


def test_attempts_that_were_repeated_are_no_failures() -> None:
    base = side(noisy(10))
    tried = record(outcome=Outcome.FAILED, run=50, superseded=True)
    assert compare(base, [*side(noisy(10, seed=1), session="head"), tried]).exit_code() == 0


def test_nothing_compared_is_no_pass_and_says_why(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _compare(results, _passed(entry="other")) == 0
    said = capsys.readouterr()
    assert "nothing compared: other: only in B; sort: only in A" in said.out
    assert said.err == "warning: not a pass: nothing compared: other: only in B; sort: only in A\n"
    assert main(["compare", "base", "head", "--strict"]) == 4
    assert Comparison("a", "b", ()).exit_code(strict=True) == 4
    assert Comparison("a", "b", ()).reason == "A and B have nothing in common"


def test_inconclusive_is_a_warning(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _compare(results, _passed(n=2)) == 0
    assert "warning: not a pass: inconclusive: " in capsys.readouterr().err
    assert main(["compare", "base", "head", "--strict"]) == 4


def test_a_first_run_needs_no_baseline_if_that_is_said(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "nowhere", "base"]) == 2
    assert main(["compare", "latest~1", "latest"]) == 2
    assert "latest~1 is not among them" in capsys.readouterr().err
    for words in (["nowhere", "base"], ["latest~1", "latest"]):
        assert main(["compare", *words, "--allow-missing-base"]) == 0
        assert "no baseline yet: nothing was compared (--allow-missing-base)" in capsys.readouterr().out
    assert main(["compare", "base", "nowhere", "--allow-missing-base"]) == 2, "the head must be there"


def test_a_missing_base_excuses_no_head_that_fails(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_session(results, _failed(2), name="broken", started=START + timedelta(days=1))
    assert main(["compare", "nowhere", "broken", "--allow-missing-base"]) == 1
    assert "failed: B failed: sort: exited with code 1: boom" in capsys.readouterr().out


def test_what_is_not_comparable_is_allowed_too_and_a_regression_never(results: Path) -> None:
    assert _compare(results, _passed(entry="other"), "--allow-missing-base") == 0
    make_session(results, _passed(level=2.0, seed=3), name="slow", started=START + timedelta(days=2))
    assert main(["compare", "base", "slow", "--allow-missing-base"]) == 3


def test_a_metric_that_vanished_is_not_no_regression() -> None:
    def runs(*metrics: str, session: str) -> list[Record]:
        values = enumerate(noisy(10, 0.002, seed=len(session)))
        return [record(metrics=dict.fromkeys(metrics, value), run=at, session=session) for at, value in values]

    lost = compare(runs("a_s", "b_s", session="base"), runs("a_s", session="head"))
    assert (lost.regression_detected, lost.answer) == (None, "inconclusive")
    assert lost.reason == "only in A: entry b_s; what B does not measure can't be compared"
    assert (lost.exit_code(), lost.exit_code(strict=True)) == (0, 4)
    gained = compare(runs("a_s", session="base"), runs("a_s", "b_s", session="head"))
    assert (gained.regression_detected, gained.reason) == (False, "the metric that counts is unchanged or improved")


def test_all_is_said_only_of_what_decides() -> None:
    rows = (
        Row("e", "rows_per_s", Verdict.EQUIVALENT, "", better="higher"),
        Row("e", "exec_time_s", Verdict.INCONCLUSIVE, "", better="lower"),
    )
    assert Comparison("a", "b", rows).reason == (
        "the metric that counts is unchanged or improved; 1 that does not count inconclusive"
    )
