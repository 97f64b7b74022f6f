"""Every question the history asks is answered from an index: no table is scanned from end to end."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest
from history_rows import fill

from assay.history import History, database

PAGE = "LIMIT 50 OFFSET 0"
QUESTIONS = {
    "latest runs": f"{database.RUN} ORDER BY run.started DESC, run.id DESC {PAGE}",
    "latest runs of an entry": f"{database.RUN} WHERE run.entry = 'e' ORDER BY run.started DESC, run.id DESC {PAGE}",
    "latest failures": f"{database.RUN} WHERE run.outcome = 'failed' ORDER BY run.started DESC, run.id DESC {PAGE}",
    "latest sessions": f"{database.SESSION} ORDER BY session.started DESC, session.id DESC {PAGE}",
    "session by name": f"{database.SESSION} WHERE session.name = 's'",
    "series of an entry": f"{database.SERIES} WHERE series.entry = 'e'",
    "series by id": f"{database.SERIES} WHERE series.id = 1",
    "series of a fingerprint": database.SERIES_OF.replace("?", "'f'"),
    "tags of an entry": database.ENTRY_TAGS.replace("?", "'1'"),
    "trend": database.TREND.replace("?", "1"),
    "levels": database.LEVELS.replace("?", "1"),
    "baseline sessions": database.BASELINE_SESSIONS.replace("?", "'1'"),
    "runs of a series in a session": re.sub(r"\?\d", "'1'", database.RUNS_OF_SERIES_IN_SESSION),
    "newest run of an entry": database.SAME_WORK.replace("?", "'1'"),
    "accepted levels of a series": f"{database.ACCEPTED} WHERE accepted.fingerprint = '1' ORDER BY at, id",
    "newest runs": database.NEWEST_RUNS.replace("?", "'1'"),
    "records of a session": database.RECORDS_OF_SESSION.replace("?", "'1'"),
    "comparison of two sessions": database.COMPARISON.replace("?", "'1'"),
}
SORTED_BY_INDEX = ("latest runs", "latest runs of an entry", "latest failures", "latest sessions", "trend", "levels")


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    path = tmp_path_factory.mktemp("history") / "history.sqlite"
    with History(path) as history:
        fill(history, sessions=20, entries=10, metrics=5)
    return History(path, read_only=True)


def scans(history: History, question: str) -> list[str]:
    """Steps that read a whole table, or build an index for want of one. Reading an index in order, up to the end of a
    page, is no such step."""
    return [
        step
        for step in history.plan(QUESTIONS[question])
        if "AUTOMATIC" in step
        or (
            step.startswith("SCAN") and "CONSTANT" not in step and not ("USING" in step and question in SORTED_BY_INDEX)
        )
    ]


@pytest.mark.parametrize("question", QUESTIONS)
def test_answered_from_an_index(history: History, question: str) -> None:
    assert scans(history, question) == []


@pytest.mark.parametrize("question", SORTED_BY_INDEX)
def test_the_order_of_time_comes_from_an_index(history: History, question: str) -> None:
    assert "USE TEMP B-TREE FOR ORDER BY" not in history.plan(QUESTIONS[question])


def test_an_index_taken_away_is_noticed(tmp_path: Path) -> None:
    with History.beside(tmp_path) as history:
        fill(history, sessions=2, entries=2, metrics=2)
    with sqlite3.connect(tmp_path / "history.sqlite") as db:
        db.execute("DROP INDEX point_by_run")
        db.execute("DROP INDEX run_by_start")
    with History.beside(tmp_path) as history:
        assert scans(history, "comparison of two sessions")
        assert "USE TEMP B-TREE FOR ORDER BY" in history.plan(QUESTIONS["latest runs"])
