"""What is one series: project, entry, parameters, machine class, workload_version. A script's digest is context."""

from __future__ import annotations

import json
import sqlite3
import zlib
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from session_factory import MACHINE, START, MadeRun, made_record

from assay.cli.main import main
from assay.history import History
from assay.record import Record, SessionInfo
from assay.record.environment import Fingerprint

SCRIPT = """
import assay
with assay.benchmark({version}) as b:
    b.metric("work_s", {seconds}, unit="s", better="lower")
"""
CONFIG = "entries: [{name: work, script: work.py, repeat: 6}]\n"


def run(folder: Path, seconds: float, version: str = "", config: str = CONFIG) -> int:
    (folder / "work.py").write_text(SCRIPT.format(seconds=seconds, version=version))
    (folder / "s.yaml").write_text(config)
    return main(["run", "--results-dir", str(folder / "results"), "--config", str(folder / "s.yaml")])


def test_an_edited_script_is_compared_and_the_edit_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, 0.1) == 0
    capsys.readouterr()
    run(tmp_path, 0.3)
    said = capsys.readouterr().out
    assert "regressed: work work_s 0.1 s → 0.3 s" in said
    assert "benchmark script changed: " in said
    assert main(["compare", "--results-dir", str(tmp_path / "results"), "latest~1", "latest"]) == 3
    assert "benchmark script changed: " in capsys.readouterr().out
    with History.beside(tmp_path / "results") as history:
        [series] = history.series(metric="work_s")
        assert [point.value for point in history.points(series.id)] == [0.1] * 6 + [0.3] * 6
        assert len({point.script for point in history.points(series.id)}) == 2


def test_what_the_author_versions_starts_a_new_series(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, 0.1, "workload_version=1") == 0
    capsys.readouterr()
    assert run(tmp_path, 0.3, "workload_version=2") == 0
    said = capsys.readouterr().out
    assert "work: workload_version 1 → 2: a new series; nothing to compare with yet" in said
    newest = max((tmp_path / "results").glob("*/report.html"), key=lambda page: page.stat().st_mtime_ns)
    assert "workload_version 1 → 2: a new series" in newest.read_text()
    assert run(tmp_path, 0.3, config=CONFIG.replace("repeat", "workload_version: 2, repeat")) == 0
    assert "a new series" not in capsys.readouterr().out


def test_projects_are_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, 0.1, config="project: search\n" + CONFIG) == 0
    assert run(tmp_path, 0.3, config="project: mail\n" + CONFIG) == 0
    assert "regressed" not in capsys.readouterr().out
    with History.beside(tmp_path / "results") as history:
        marks = [history.fingerprint(one.fingerprint) for one in history.series(metric="work_s")]
    assert sorted(mark.project for mark in marks if mark) == ["mail", "search"]


def test_records_from_before_have_their_script_beside_the_series() -> None:
    written = made_record(MadeRun("sort"), "s", START).to_json()
    del written["script"]
    for workload, version, script in (
        ("script 0123456789ab", "", "0123456789ab"),
        ("0123456789ab", "", "0123456789ab"),  # pytest's
        ("script unreadable", "", ""),
        ("command 0123456789ab", "", ""),
        ("version 2", "version 2", ""),
        ("hyperfine", "hyperfine", ""),
    ):
        written["fingerprint"]["workload"] = workload
        read = Record.from_json(written)
        assert (read.fingerprint.workload, read.script) == (version, script)
        assert Record.from_json(json.loads(json.dumps(read.to_json()))) == read


def old_key(mark: Fingerprint, script: str) -> str:
    """As versions that counted the script as part of the work made it."""
    return replace(mark, workload=f"script {script}").key


def test_series_that_differ_only_in_the_digest_are_joined(tmp_path: Path) -> None:
    scripts = ("aaaaaaaaaaaa", "bbbbbbbbbbbb", "bbbbbbbbbbbb", "cccccccccccc")
    records = [
        made_record(MadeRun("sort", {"x": float(day)}), f"night-{day}", START + timedelta(days=day)) for day in range(4)
    ]
    records = [
        replace(one, script=script, fingerprint=replace(one.fingerprint, workload=""))
        for one, script in zip(records, scripts, strict=True)
    ]
    with History.beside(tmp_path) as history:
        for record in records:
            history.add(record, SessionInfo(record.session, record.started_at), MACHINE)
        whole = [point.value for point in history.points(history.series(metric="x")[0].id)]
    as_before(tmp_path / "history.sqlite", records)

    for _ in range(2):  # the second time nothing is left to do
        with History.beside(tmp_path, read_only=True) as history:
            [series] = history.series(metric="x")
            points = history.points(series.id)
            assert [point.value for point in points] == whole
            assert [point.script for point in points] == list(scripts)
            assert [one.metric for one in history.series()].count("exec_time_s") == 1
            mark = records[-1].fingerprint
            found = history.baseline(mark, records[-1].started_at, limit=9)
            assert [runs[0].session for runs in found] == ["night-2", "night-1", "night-0"]
            assert found[0][0].script == "bbbbbbbbbbbb"
            assert history.fingerprint(mark.key) == mark
    with History.beside(tmp_path) as history:  # its folder again: the record is known
        assert not history.add(records[0], SessionInfo("night-0", records[0].started_at), MACHINE)


def as_before(path: Path, records: list[Record]) -> None:
    """Writes a history as the version before did: a series for each digest of the script."""
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM fingerprint")
        for record in records:
            script, mark = record.script, record.fingerprint
            key = old_key(mark, script)
            db.execute(
                "INSERT OR IGNORE INTO fingerprint (key, entry, params, workload, machine) VALUES (?, ?, ?, ?, ?)",
                (key, mark.entry, mark.params, f"script {script}", mark.machine),
            )
            written = {**record.to_json(with_tasks=False)}
            del written["script"]
            written["fingerprint"] = {**mark.to_json(), "workload": f"script {script}", "key": key}
            [(run,)] = db.execute("SELECT id FROM run WHERE run_id = ?", (record.run_id,)).fetchall()
            db.execute("UPDATE body SET record = ? WHERE run = ?", (zlib.compress(json.dumps(written).encode()), run))
            db.execute("UPDATE run SET fingerprint = ? WHERE id = ?", (key, run))
            for id, metric in db.execute(
                "SELECT series.id, series.metric FROM point JOIN series ON series.id = point.series WHERE run = ?",
                (run,),
            ).fetchall():
                db.execute(
                    "INSERT OR IGNORE INTO series (fingerprint, entry, metric) VALUES (?, ?, ?)",
                    (key, mark.entry, metric),
                )
                db.execute(
                    "UPDATE point SET series = (SELECT id FROM series WHERE fingerprint = ? AND metric = ?)"
                    " WHERE run = ? AND series = ?",
                    (key, metric, run, id),
                )
        db.execute("DELETE FROM series WHERE id NOT IN (SELECT series FROM point)")
        db.execute("DROP TABLE accepted")
        db.execute("ALTER TABLE fingerprint DROP COLUMN project")
        db.execute("ALTER TABLE run DROP COLUMN script")
        db.execute("PRAGMA user_version = 3")


def test_an_upgrade_that_is_killed_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = made_record(MadeRun("sort", {"x": 1.0}), "night", START)
    record = replace(record, script="aaaaaaaaaaaa", fingerprint=replace(record.fingerprint, workload=""))
    with History.beside(tmp_path) as history:
        history.add(record, SessionInfo("night", record.started_at), MACHINE)
    as_before(tmp_path / "history.sqlite", [record])

    class Killed(BaseException):
        pass

    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("assay.history.database.put_fingerprint", killed)
        with pytest.raises(Killed):
            History.beside(tmp_path)
    with sqlite3.connect(tmp_path / "history.sqlite") as db:
        assert db.execute("PRAGMA user_version").fetchone() == (3,)
        assert db.execute("SELECT key FROM fingerprint").fetchall() == [(old_key(record.fingerprint, record.script),)]
    with History.beside(tmp_path) as history:
        assert [one.fingerprint for one in history.series(metric="x")] == [record.fingerprint.key]
