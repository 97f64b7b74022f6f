"""Samples inside a run say how that run went; only other runs tell how much runs of the same code differ."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import numpy as np
from session_factory import START, MadeRun, make_session
from tests.analysis.records import noisy, record

from assay.analysis import Comparison, Verdict, compare, what_changed
from assay.history import History
from assay.record import SessionFolder

CALLED = (Verdict.IMPROVED, Verdict.REGRESSED, Verdict.EQUIVALENT)


def _run(level: float, rng: np.random.Generator, samples: int = 30) -> dict[str, object]:
    """One run of unchanged code: its level moves by 2% from run to run, its samples by 0.5% around it."""
    moved = level * np.exp(rng.normal(0, 0.02))
    within = moved * np.exp(rng.normal(0, 0.005, samples))
    return {"value": float(np.median(within)), "unit": "s", "better": "lower", "samples": [float(v) for v in within]}


def _called(comparison: Comparison | None) -> list[str]:
    rows = comparison.rows if comparison else ()
    return [f"{row.entry} {row.metric}: {row.verdict}" for row in rows if row.verdict in CALLED]


def test_samples_of_one_run_make_no_verdict() -> None:
    base = [record(metrics={"time_taken_s": {"value": 1.0, "samples": list(noisy(1.0, n=30))}})]
    head = [record(metrics={"time_taken_s": {"value": 1.4, "samples": list(noisy(1.4, n=30, seed=1))}}, session="head")]
    row = next(row for row in compare(base, head).rows if row.metric == "time_taken_s")
    assert row.verdict is Verdict.INCONCLUSIVE
    assert (row.base_runs, row.head_runs) == (1, 1)
    assert row.reason == (
        "can't tell from one run on each side; needs 3 more on each: 60 samples within them don't show how runs differ"
    )


def test_21_single_run_sessions_of_unchanged_code_are_called_nothing() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        runs = [record(metrics={"sort_s": _run(0.1, rng)}, session=f"s{i}", day=i + 1) for i in range(21)]
        called = [word for i in range(20) for word in _called(compare([runs[i]], [runs[i + 1]]))]
        assert called == [], seed


def test_one_run_a_session_is_held_against_the_spread_of_the_sessions_before(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)

    def session(number: int, level: float) -> SessionFolder:
        run = MadeRun("sort", {"sort_s": _run(level, rng)})
        return make_session(tmp_path, [run], name=f"s{number:02d}", started=START + timedelta(days=number))

    with History.beside(tmp_path) as history:
        for number in range(21):
            made = session(number, 0.1)
            assert [word for word in _called(what_changed(made.records(), history)) if "equivalent" not in word] == []
            history.add_session(made)
        found = what_changed(session(21, 0.15).records(), history)
    assert found is not None
    row = next(row for row in found.rows if row.metric == "sort_s")
    assert (row.design, row.head_runs) == ("history", 1)
