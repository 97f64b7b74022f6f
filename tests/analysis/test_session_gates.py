"""`max_regression` and exact metrics judge a session against earlier sessions, never one run of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from session_factory import START, MadeRun, make_session

from assay.analysis.gate import judge_gates
from assay.analysis.rules import Rules
from assay.analysis.verdict import (
    FILE_NAME,
    GateResult,
    VerdictDocument,
    read_verdict,
    session_verdict,
    write_verdict,
)
from assay.history import History
from assay.record import Outcome, RequirementResult

RUNS = 6


def _runs(values: Sequence[float], limit: float, more: dict[str, Any]) -> list[MadeRun]:
    required = (RequirementResult("sort_s", "at most", 0.0, True, max_regression=limit),)
    return [
        MadeRun(
            "sort",
            {"sort_s": {"value": float(value), "unit": "s"}, **more},
            requirements=required,
            repeat=n + 1,
            repeats=len(values),
        )
        for n, value in enumerate(values)
    ]


def _gates(
    results: Path, sessions: Sequence[Sequence[float]], limit: float = 0.3, **last: Any
) -> tuple[GateResult, ...]:
    """The gates of the last of the sessions; what it measures besides."""
    with History.beside(results) as history:
        for day, values in enumerate(sessions):
            more = {name: {"value": value, "exact": True} for name, value in last.items()}
            if day < len(sessions) - 1:
                more = {name: {"value": 18_140, "exact": True} for name in last}
            runs = _runs(values, limit, more)
            made = make_session(results, runs, name=f"s{day:02d}", started=START + timedelta(days=day))
            history.add_session(made)
        return judge_gates(list(made.records()), history, Rules())


def _noisy(level: float, spread: float, seed: int, runs: int = RUNS) -> list[float]:
    return [float(v) for v in level * np.exp(np.random.default_rng(seed).normal(0, spread, runs))]


@pytest.mark.parametrize("known", [1, 3, 12])
@pytest.mark.parametrize("times", [1.5, 3.0])
def test_more_work_is_red_however_few_sessions_are_known(tmp_path: Path, known: int, times: float) -> None:
    sessions = [_noisy(1.0, 0.03, seed) for seed in range(known)]
    [gate] = _gates(tmp_path, [*sessions, _noisy(times, 0.03, 99)])
    assert (gate.result, gate.metric) == ("fail", "sort_s")
    assert gate.headline.endswith("Run `assay ab` to confirm.")


@pytest.mark.parametrize("seed", range(6))
def test_a_program_that_is_slow_now_and_then_is_never_red(tmp_path: Path, seed: int) -> None:
    """One run of five takes two to three times as long; sessions follow each other for two weeks."""
    rng = np.random.default_rng(seed)
    found = []
    with History.beside(tmp_path) as history:
        for day in range(14):
            slow = np.where(rng.random(RUNS) < 0.2, rng.uniform(2, 3, RUNS), 1.0)
            runs = _runs(list(slow * np.exp(rng.normal(0, 0.02, RUNS))), 0.3, {})
            made = make_session(tmp_path, runs, name=f"s{day:02d}", started=START + timedelta(days=day))
            history.add_session(made)
            found += judge_gates(list(made.records()), history, Rules())
    assert {gate.result for gate in found} <= {"pass", "cannot tell", "nothing to compare with"}


def test_one_slow_run_says_nothing_about_the_session(tmp_path: Path) -> None:
    [gate] = _gates(tmp_path, [_noisy(1.0, 0.01, 1), [*_noisy(1.0, 0.01, 2, 5), 2.0]])
    assert gate.result != "fail"


def test_the_message_has_value_baseline_limit_and_uncertainty(tmp_path: Path) -> None:
    [gate] = _gates(tmp_path, [[0.118] * 6, [0.177, 0.176, 0.178, 0.177, 0.176, 0.178]])
    start, uncertainty = gate.headline.split(", ±")
    assert start == "sort_s 177 ms is 50% above the baseline of 118 ms (limit 30%"
    assert uncertainty.endswith("%). Run `assay ab` to confirm.")


def test_near_the_limit_it_cannot_tell(tmp_path: Path) -> None:
    [gate] = _gates(tmp_path, [_noisy(1.0, 0.05, 1), _noisy(1.3, 0.05, 2)])
    assert gate.result == "cannot tell"
    assert gate.reason


def test_single_runs_are_red_only_where_no_hiccup_explains_it(tmp_path: Path) -> None:
    assert [_gates(tmp_path / str(times), [[1.0], [times]])[0].result for times in (1.0, 1.5, 2.5, 30.0)] == [
        "cannot tell", "cannot tell", "cannot tell", "fail",
    ]  # fmt: skip


def test_without_an_earlier_session_there_is_nothing_to_compare_with(tmp_path: Path) -> None:
    [gate] = _gates(tmp_path, [_noisy(1.0, 0.01, 1)])
    assert gate.result == "nothing to compare with"
    document = session_verdict("s00", None, [gate], False, [], [])
    assert (document.result, document.exit_code, document.symbol) == ("nothing to compare with", 0, "○")


def test_a_session_that_missed_its_gate_is_no_baseline(tmp_path: Path) -> None:
    """The slower code stays red, however many nights it runs."""
    results = []
    with History.beside(tmp_path) as history:
        for day in range(8):
            runs = _runs(_noisy(1.0 if day < 2 else 1.6, 0.01, day), 0.3, {})
            made = make_session(tmp_path, runs, name=f"s{day:02d}", started=START + timedelta(days=day))
            history.add_session(made)
            gates = judge_gates(list(made.records()), history, Rules())
            write_verdict(made.path, session_verdict(made.path.name, None, gates, False, [], []))
            results.append(gates[0].result)
    assert results == ["nothing to compare with", "pass", *["fail"] * 6]


def test_a_regression_stays_red_night_after_night(tmp_path: Path) -> None:
    """On a machine whose sessions differ by a tenth, too: what missed the gate says nothing about the usual level."""
    found = []
    with History.beside(tmp_path) as history:
        for day in range(22):
            level = float(np.exp(np.random.default_rng(day).normal(0, 0.15))) * (3.0 if day >= 16 else 1.0)
            runs = _runs(_noisy(level, 0.2, 100 + day), 0.3, {})
            made = make_session(tmp_path, runs, name=f"s{day:02d}", started=START + timedelta(days=day))
            history.add_session(made)
            gates = judge_gates(list(made.records()), history, Rules())
            write_verdict(made.path, session_verdict(made.path.name, None, gates, False, (), ()))
            found += [gate.result for gate in gates]
    assert found[16:] == ["fail"] * 6
    assert "fail" not in found[:16]


def test_a_lost_row_is_red_and_named_first(tmp_path: Path) -> None:
    first, second = _gates(tmp_path, [_noisy(1.0, 0.01, 1), _noisy(3.0, 0.01, 2)], rows=17_778)
    assert (first.metric, first.result, second.metric) == ("rows", "fail", "sort_s")
    assert first.headline.startswith("changed: 18140 → 17778")


def test_a_named_baseline_that_is_not_there(tmp_path: Path) -> None:
    required = (RequirementResult("sort_s", "at most", 1.0, True, max_regression=0.3, baseline="gone"),)
    made = make_session(tmp_path, [MadeRun("sort", {"sort_s": 1.0}, requirements=required)])
    with History.beside(tmp_path) as history:
        [gate] = judge_gates(list(made.records()), history, Rules())
    assert (gate.result, gate.reason) == ("nothing to compare with", "session gone is not there")


def test_failed_runs_are_no_part_of_the_level(tmp_path: Path) -> None:
    runs = _runs(_noisy(1.0, 0.01, 5), 0.3, {})
    with History.beside(tmp_path) as history:
        history.add_session(make_session(tmp_path, _runs(_noisy(1.0, 0.01, 1), 0.3, {}), name="s0", started=START))
        broken = [MadeRun("sort", {"sort_s": 9.0}, outcome=Outcome.FAILED, repeat=n + 7, repeats=8) for n in range(2)]
        made = make_session(tmp_path, [*runs, *broken], name="s1", started=START + timedelta(days=1))
        history.add_session(made)
        [gate] = judge_gates(list(made.records()), history, Rules())
    assert gate.result == "pass"


def test_the_document_is_read_as_it_was_written(tmp_path: Path) -> None:
    gates = _gates(tmp_path, [_noisy(1.0, 0.01, 1), _noisy(3.0, 0.01, 2)], rows=17_778)
    document = session_verdict("s01", None, gates, False, ["a line"], ["Also different: x"])
    write_verdict(tmp_path, document)
    assert read_verdict(tmp_path) == document
    assert document.to_json()["exit_code"] == 1
    assert VerdictDocument.from_json(document.to_json()) == document


@pytest.mark.parametrize("text", ["", "[]", '{"result": "fine"}', '{"result": "fail", "gates": [{"entry": 1}]}'])
def test_a_damaged_document_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_NAME).write_text(text)
    assert read_verdict(tmp_path) is None
