"""What a report knows of the sessions before it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from session_factory import START, MadeRun, make_session

from assay.history import History
from assay.record import Outcome, SessionFolder
from assay.report.trends import Earlier, ReportTrend


def nights(results: Path, values: list[float], history: History) -> list[SessionFolder]:
    """A session for each value, all known but the last."""
    folders = []
    for night, value in enumerate(values):
        runs = [
            MadeRun(
                "a", {"time_s": {"value": value + wobble, "unit": "s", "better": "lower"}}, repeat=n + 1, repeats=3,
                usage_series=False,
            )
            for n, wobble in enumerate((0.0, 0.01, -0.01))
        ]  # fmt: skip
        folders.append(make_session(results, runs, name=f"night-{night:02d}", started=START + timedelta(days=night)))
        if night < len(values) - 1:
            history.add_session(folders[-1])
    return folders


def trend(earlier: Earlier) -> ReportTrend:
    found = earlier.trend("a", "time_s")
    assert found is not None
    return found


def test_the_session_itself_is_the_last_whether_the_history_knows_it_or_not(tmp_path: Path) -> None:
    with History.beside(tmp_path) as history:
        *_, last = nights(tmp_path, [10.0, 11.0, 12.0], history)
        unknown = trend(Earlier(last.records(), history))
        history.add_session(last)
        known = trend(Earlier(last.records(), history))
    assert [level.value for level in unknown.levels] == [10.0, 11.0, 12.0]
    assert known.levels == unknown.levels


def test_later_sessions_are_none_of_its_past(tmp_path: Path) -> None:
    with History.beside(tmp_path) as history:
        folders = nights(tmp_path, [10.0, 11.0, 12.0, 13.0], history)
        assert [level.value for level in trend(Earlier(folders[1].records(), history)).levels] == [10.0, 11.0]


def test_how_long_a_failed_run_took_is_no_level(tmp_path: Path) -> None:
    with History.beside(tmp_path) as history:
        nights(tmp_path, [10.0, 11.0, 12.0], history)
        broken = MadeRun("a", outcome=Outcome.FAILED, exec_time_s=0.1)
        last = make_session(tmp_path, [broken], name="broken", started=START + timedelta(days=9))
        found = Earlier(last.records(), history).trend("a", "exec_time_s")
    assert found is not None
    assert [level.session for level in found.levels] == ["night-00", "night-01"]


def test_a_step_is_marked_where_it_is(tmp_path: Path) -> None:
    with History.beside(tmp_path) as history:
        *_, last = nights(tmp_path, [10.0, 10.1, 9.9, 10.0, 10.1, 9.9, 12.0, 12.1, 11.9, 12.0, 12.1, 11.9], history)
        found = trend(Earlier(last.records(), history))
    assert [change.session for change in found.changes] == ["night-06"]
    assert found.spark().count('class="step"') == 1
    # It is the step of this session too: a second mark would be another.
    assert found.spark(moved=True) == found.spark()
    assert found.levels_near(10.0) == pytest.approx((10.0, 10.1, 9.9, 10.0, 10.1, 9.9))
    assert found.levels_near(12.0) == pytest.approx((12.0, 12.1, 11.9, 12.0, 12.1))


def test_what_moved_tonight_is_marked_tonight(tmp_path: Path) -> None:
    with History.beside(tmp_path) as history:
        *_, last = nights(tmp_path, [10.0, 10.1, 9.9, 10.0, 10.1, 9.9, 10.0, 10.1, 12.0], history)
        found = trend(Earlier(last.records(), history))
    assert found.changes == ()
    assert 'class="step"' not in found.spark()
    assert 'class="step"' in found.spark(moved=True)


def test_runs_it_is_held_against_are_the_last_comparable_or_those_that_were_chosen(tmp_path: Path) -> None:
    with History.beside(tmp_path) as history:
        first, _, last = nights(tmp_path, [10.0, 11.0, 12.0], history)
        assert Earlier(last.records(), history).values("a", "time_s") == pytest.approx((11.0, 11.01, 10.99))
        chosen = Earlier(last.records(), history, base=first.records())
        assert chosen.values("a", "time_s") == pytest.approx((10.0, 10.01, 9.99))


def test_without_a_history_nothing_is_known(tmp_path: Path) -> None:
    folder = make_session(tmp_path, [MadeRun("a", {"time_s": 1.0})])
    earlier = Earlier(folder.records())
    assert (earlier.runs("a"), earlier.values("a", "time_s"), earlier.trend("a", "time_s")) == ((), (), None)
