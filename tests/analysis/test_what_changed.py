from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from tests.analysis.records import noisy, record, side

from assay.analysis import Verdict, compare, summary_lines, what_changed
from assay.analysis.rules import NoiseFloor, save_floors
from assay.history import History
from assay.record import Environment, Outcome, Record, SessionInfo


def _add(history: History, records: list[Record]) -> None:
    info = SessionInfo(records[0].session, records[0].started_at)
    for item in records:
        history.add(item, info, Environment())


def test_the_last_comparable_session_is_the_base(tmp_path: Path) -> None:
    with History(tmp_path / "h.sqlite") as history:
        _add(history, side(noisy(5), session="oldest", day=1))
        _add(history, side(noisy(10), session="older", day=2))
        _add(history, side(noisy(9), session="other", day=3, machine="another"))
        head = side(noisy(13, seed=1), session="head", day=4)
        _add(history, head)
        changed = what_changed(head, history)
    assert changed is not None
    assert (changed.base, changed.head) == ("older", "head")
    assert [row.metric for row in changed.regressed] == ["time_taken_s"]
    assert summary_lines(changed)[0].startswith("regressed: entry time_taken_s 10.02 → 13.05, 3")


def test_nothing_before_is_nothing_to_say(tmp_path: Path) -> None:
    with History(tmp_path / "h.sqlite") as history:
        head = side(noisy(13))
        _add(history, head)
        assert what_changed(head, history) is None
        assert what_changed([], history) is None


def test_single_runs_are_held_against_many_sessions(tmp_path: Path) -> None:
    """`repeat: 1` every night: a night far outside what ten showed is named, believed with the second, told once."""
    rng = np.random.default_rng(0)
    with History(tmp_path / "h.sqlite") as history:
        for day in range(1, 15):
            _add(history, [record(metrics={"time_taken_s": float(10 * np.exp(rng.normal(0, 0.02)))},
                                  session=f"night-{day}", day=day)])  # fmt: skip
        first, second, third = (
            [record(metrics={"time_taken_s": 13.0 + night / 10}, session=f"slow-{night}", day=20 + night)]
            for night in range(3)
        )
        told = []
        for night in (first, second, third):
            told.append(what_changed(night, history))
            _add(history, night)
        slow = told[1]
        rows = [next(row for row in one.rows if row.metric == "time_taken_s") for one in told if one]
        assert [row.verdict for row in rows] == [Verdict.INCONCLUSIVE, Verdict.REGRESSED, Verdict.INCONCLUSIVE]
        assert rows[0].reason.startswith("not confirmed yet: 30")
        assert "since it last changed" in "; ".join(rows[2].notes)
        usual = what_changed([record(metrics={"time_taken_s": 10.1}, session="head", day=20)], history)
    assert slow is not None
    assert usual is not None
    row = next(row for row in slow.rows if row.metric == "time_taken_s")
    assert (row.verdict, row.design) == (Verdict.REGRESSED, "history")
    assert any("15 earlier sessions" in note for note in row.notes)
    assert not usual.regressed


def test_too_few_runs_is_said_once(tmp_path: Path) -> None:
    with History(tmp_path / "h.sqlite") as history:
        _add(history, side([1.0], session="older", day=1))
        changed = what_changed(side([1.0], session="head", day=2), history)
    assert changed is not None
    lines = summary_lines(changed)
    assert lines[0] == "no change shown against older: 2 inconclusive"
    assert lines[1].startswith("inconclusive: can't tell from one run on each side; ")
    assert len(lines) == 2


def test_nothing_changed_is_only_said_where_it_is_known(tmp_path: Path) -> None:
    with History(tmp_path / "h.sqlite") as history:
        _add(history, side(noisy(10, 0.002), session="older", day=1))
        changed = what_changed(side(noisy(10, 0.002, seed=1), session="head", day=2), history)
    assert changed is not None
    assert summary_lines(changed) == ["nothing changed against older (2 metrics)"]


def test_a_calibrated_noise_floor_is_the_margin_and_a_broken_file_costs_nothing(tmp_path: Path) -> None:
    head = side(noisy(12.5, 0.003, seed=1), session="head", day=2)
    with History(tmp_path / "h.sqlite") as history:
        _add(history, side(noisy(10, 0.003), session="older", day=1))
        assert what_changed(head, history).regressed  # type: ignore[union-attr]
        floor = NoiseFloor("entry", "time_taken_s", head[0].fingerprint.key, 0.35, 20, "2026-01-01T00:00:00+00:00")
        save_floors(tmp_path, [floor])
        assert not what_changed(head, history).regressed  # type: ignore[union-attr]
        (tmp_path / "noise_floors.json").write_text("{")
        changed = what_changed(head, history)
    assert changed is not None
    assert changed.regressed
    assert "noise floors are not used" in summary_lines(changed)[-1]


def test_no_scipy_is_imported() -> None:
    """It runs after every session: importing scipy would cost more than everything else it does."""
    code = "import sys, assay.analysis; sys.exit('scipy' in sys.modules or 'ruptures' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_nights_without_a_ratio_are_held_against_many_sessions_too(tmp_path: Path) -> None:
    with History(tmp_path / "h.sqlite") as history:
        for day in range(1, 15):
            _add(history, [record(metrics={"errors": 0}, session=f"night-{day}", day=day)])
        told = []
        for night in range(3):
            tonight = [record(metrics={"errors": 5}, session=f"bad-{night}", day=20 + night)]
            told.append(what_changed(tonight, history))
            _add(history, tonight)
    rows = [next(row for row in one.rows if row.metric == "errors") for one in told if one]
    assert [str(row.verdict) for row in rows] == ["inconclusive", "regressed", "equivalent"]
    assert rows[0].reason == "not confirmed yet: 0 → 5; the next session will tell"
    assert [(row.before, row.head) for row in rows[:2]] == [(0, 5), (0, 5)]


def test_what_changed_without_an_order_is_said_and_nothing_compared_is_not_nothing_changed() -> None:
    def lines(before: dict[str, object], after: dict[str, object], **more: Any) -> list[str]:
        return summary_lines(compare([record(metrics=before)], [record(metrics=after, session="head", **more)]))

    digest = lines({"digest": {"value": "aa", "exact": True}}, {"digest": {"value": "bb", "exact": True}})
    assert digest[0] == "changed: entry digest: 'aa' → 'bb' (an exact metric: any change counts)"
    assert not [line for line in digest if "no change" in line or "nothing changed" in line]
    assert lines({"x": 1}, {"x": 1}, outcome=Outcome.FAILED)[0] == (
        "nothing could be compared with base: 1 not comparable"
    )
    base, head = (
        [record(metrics={"num_things": float(value)}, run=run, session=name) for run, value in enumerate(noisy(*of))]
        for name, of in (("base", (10, 0.002)), ("head", (14, 0.002)))
    )
    said = summary_lines(compare(base, head))
    assert said[0].startswith("changed: entry num_things: 40.0% higher (noise alone rarely exceeds ")
    assert "nothing changed" not in said[1]
