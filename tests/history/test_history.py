from __future__ import annotations

import math
import multiprocessing
import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from session_factory import MACHINE, START, MadeRun, later, made_record, make_session

from assay.errors import DataError
from assay.history import History, reasons_against
from assay.record import Outcome, SessionFolder, SessionInfo


def three_nights(tmp_path: Path) -> list[SessionFolder]:
    return [
        make_session(
            tmp_path,
            [MadeRun("alm", {"rows_per_s": {"value": 100.0 + night, "unit": "1/s", "better": "higher"}, "ok": True})],
            name=f"night-{night}",
            started=START + timedelta(days=night),
            environment=later(MACHINE, str(night) * 40),
        )
        for night in range(3)
    ]


def test_adding_a_session_twice_changes_nothing(tmp_path: Path) -> None:
    [folder, *_] = three_nights(tmp_path)
    with History.beside(tmp_path) as history:
        first, second = history.add_session(folder), history.add_session(folder)
        assert (first.new, first.known) == (1, 0)
        assert (second.new, second.known) == (0, 1)
        assert history.records("night-0") == folder.records()
        assert len(history.runs()) == 1


def test_a_record_written_anew_replaces_the_old_one(tmp_path: Path) -> None:
    info = SessionInfo("s", START.isoformat())
    record = made_record(MadeRun("alm", {"x": 1.0}), "s", START)
    with History.beside(tmp_path) as history:
        assert history.add(record, info, MACHINE)
        assert history.add(replace(record, script_metrics={"x": 2.0}), info, MACHINE)
        [series] = history.series(metric="x")
        assert [point.value for point in history.points(series.id)] == [2.0]


def test_a_trend_is_in_order_of_time_whatever_the_order_of_import(tmp_path: Path) -> None:
    folders = three_nights(tmp_path)
    with History.beside(tmp_path) as history:
        for folder in reversed(folders):
            history.add_session(folder)
        [series] = history.series(entry="alm", metric="rows_per_s")
        assert (series.unit, series.better, series.points, series.latest) == ("1/s", "higher", 3, 102.0)
        points = history.points(series.id)
        assert [(p.value, p.session, p.git_commit[0]) for p in points if p.git_commit] == [
            (100.0, "night-0", "0"),
            (101.0, "night-1", "1"),
            (102.0, "night-2", "2"),
        ]
        assert [p.value for p in history.points(series.id, limit=2)] == [101.0, 102.0]
        assert history.values_by_session(series.id) == [[100.0], [101.0], [102.0]]
        assert history.values_by_session(series.id, before=points[2].started_at, limit=1) == [[101.0]]


def test_booleans_nan_and_failures_give_no_points(tmp_path: Path) -> None:
    folder = make_session(
        tmp_path,
        [
            MadeRun("a", {"ok": True, "loss": math.nan, "x": 1}),
            MadeRun("b", {"x": 1}, outcome=Outcome.FAILED),
            MadeRun("c", {"x": 1}, warmup=True),
        ],
    )
    with History.beside(tmp_path) as history:
        history.add_session(folder)
        assert {(s.entry, s.metric) for s in history.series()} == {
            ("a", "x"),
            ("a", "exec_time_s"),
            ("a", "usage.cpu_s"),
            ("a", "usage.peak_rss_mb"),
        }
        assert len(history.runs()) == 3


def test_last_comparable_is_the_newest_earlier_session_with_passed_runs(tmp_path: Path) -> None:
    folders = three_nights(tmp_path)
    broken = make_session(
        tmp_path, [MadeRun("alm", outcome=Outcome.FAILED)], name="broken", started=START + timedelta(days=3)
    )
    with History.beside(tmp_path) as history:
        for folder in [*folders, broken]:
            history.add_session(folder)
        [record] = folders[2].records()
        now = (START + timedelta(days=4)).isoformat()
        assert [found.session for found in history.last_comparable(record.fingerprint, now)] == ["night-2"]
        assert [f.session for f in history.last_comparable(record.fingerprint, record.started_at)] == ["night-1"]
        other = replace(record.fingerprint, machine="another")
        assert history.last_comparable(other, now) == ()
        previous = history.previous_session([record], folders[2].info().started_at)
        assert previous is not None
        assert (previous.name, previous.outcomes) == ("night-1", {"passed": 1})
        assert history.previous_session([record], START.isoformat()) is None


def test_records_that_must_not_be_compared_say_why() -> None:
    a = made_record(MadeRun("alm"), "s", START)
    assert reasons_against(a, a) == ()
    other = replace(a, fingerprint=replace(a.fingerprint, params="ffff"), outcome=Outcome.TIMEOUT)
    assert reasons_against(a, other) == (
        "s/alm/run-01 was not measured: timeout",
        "params: 0123456789ab against ffff",
    )


def _write_many(path: Path, writer: int) -> None:
    info = SessionInfo(f"s{writer}", START.isoformat())
    with History(path) as history:
        for repeat in range(1, 26):
            history.add(made_record(MadeRun("alm", {"x": repeat}, repeat=repeat), info.name, START), info, MACHINE)


def test_two_processes_may_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_many, args=(path, number)) for number in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0]
    with History(path) as history:
        assert len(history.runs(session="s0")) == len(history.runs(session="s1")) == 25


def test_a_damaged_file_is_named_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "history.sqlite").write_bytes(b"not a database at all" * 100)
    with pytest.raises(DataError, match=r"history\.sqlite: .*assay history import --rebuild"):
        History.beside(tmp_path)


def test_another_schema_is_named_with_the_way_out(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "history.sqlite") as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(DataError, match=r"has schema 99.*--rebuild"):
        History.beside(tmp_path)


def test_reading_needs_a_history(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no history at"):
        History.beside(tmp_path, read_only=True)
