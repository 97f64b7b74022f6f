"""`latest` and baselines are ordinary sessions; experiments, reruns and imports are found by their name."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from session_factory import MACHINE, START, MadeRun, made_record, make_session

from assay.analysis import what_changed
from assay.api.results import results
from assay.cli.main import main
from assay.errors import DataError, UsageError
from assay.history import History, find_session
from assay.record import SessionFolder, SessionInfo
from assay.record.session_folder import EXPERIMENTS, KINDS, SessionKind
from assay.server.session_pages import sessions
from assay.server.session_store import Store


def session(results: Path, name: str, kind: SessionKind, day: int, value: float = 10.0) -> SessionFolder:
    started = START + timedelta(days=day)
    runs = [MadeRun("alm", {"time_s": value + 0.01 * n}, repeat=n, repeats=5) for n in range(1, 6)]
    folder = make_session(results, runs, name=name, started=started)
    folder.write_info(replace(folder.info(), kind=kind))
    return folder


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "run"])
def test_latest_is_the_newest_ordinary_session(tmp_path: Path, kind: SessionKind) -> None:
    session(tmp_path, "night-1", "run", 1)
    session(tmp_path, "between", kind, 2)
    session(tmp_path, "night-2", "run", 3)
    session(tmp_path, "afterwards", kind, 4)
    assert find_session("latest", tmp_path).path.name == "night-2"
    assert find_session("latest~1", tmp_path).path.name == "night-1"
    assert find_session("afterwards", tmp_path).path.name == "afterwards"
    assert find_session("after", tmp_path).path.name == "afterwards"
    assert results(last=1, results_dir=tmp_path).sessions == ("night-2",)
    with pytest.raises(UsageError, match="only 2 session"):
        find_session("latest~2", tmp_path)


def test_an_experiment_alone_is_not_latest_and_the_message_says_what_there_is(tmp_path: Path) -> None:
    session(tmp_path, "ab-alm__1", "ab", 1)
    with pytest.raises(UsageError, match=r"no session of `assay run` in .*the newest is ab-alm__1 \(kind ab\)"):
        find_session("latest", tmp_path)


def test_a_git_revision_is_no_experiment(tmp_path: Path) -> None:
    session(tmp_path, "night", "run", 1)
    session(tmp_path, "ab-alm", "ab", 2)
    assert find_session("a" * 40, tmp_path).path.name == "night"


@pytest.mark.parametrize("kind", ["rerun", *EXPERIMENTS])
def test_a_night_is_held_against_the_last_night_only(tmp_path: Path, kind: SessionKind) -> None:
    with History.beside(tmp_path) as history:
        history.add_session(session(tmp_path, "night-1", "run", 1, 10.0))
        history.add_session(session(tmp_path, "between", kind, 2, 20.0))
        head = session(tmp_path, "night-2", "run", 3, 10.0)
        history.add_session(head)
        changed = what_changed(head.records(), history)
        assert changed is not None
        assert changed.base == "night-1"
        assert not changed.regressed
        previous = history.previous_session(head.records(), head.info().started_at)
        assert previous is not None
        assert previous.name == "night-1"
        row = history.session("between")
        assert row is not None
        assert row.kind == kind


def test_runs_of_an_experiment_are_no_part_of_a_trend(tmp_path: Path) -> None:
    with History.beside(tmp_path) as history:
        for name, kind in (("night", "run"), ("again", "rerun"), ("ab-alm", "ab")):
            history.add_session(session(tmp_path, name, kind, 1))  # type: ignore[arg-type]
        [series] = history.series(metric="time_s")
        assert {point.session for point in history.points(series.id)} == {"night", "again"}
        assert len(history.records("ab-alm")) == 5


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ({"command": ["assay", "run", "--config", "ab.yaml"], "name": "ab-test__1"}, "run"),
        ({"command": ["assay", "ab", "--", "a", "--", "b"], "name": "tuesday"}, "ab"),
        ({"command": ["assay", "ab", "--confirm", "--", "a", "--", "b"], "name": "confirm-a__1"}, "confirm"),
        ({"command": ["assay", "calibrate", "--", "a"], "name": "calibrate-a__1"}, "calibrate"),
        ({"command": ["assay", "rerun", "latest/a"], "name": "rerun-a__1", "reason": "rerun of n/a"}, "rerun"),
        ({"reason": "imported from hyperfine"}, "import"),
        ({"reason": "imported from hyperfine", "command": ["assay", "run"], "pid": 7}, "run"),
        ({}, "run"),
    ],
)
def test_files_from_before_kinds(written: dict[str, Any], kind: str) -> None:
    assert SessionInfo.from_json({"name": "s", "started_at": START.isoformat(), **written}).kind == kind


def test_an_old_folder_with_a_comparison_is_an_ab(tmp_path: Path) -> None:
    folder = session(tmp_path, "ab-alm", "run", 1)
    written = json.loads((folder.path / "session.json").read_text())
    del written["kind"]
    (folder.path / "session.json").write_text(json.dumps(written))
    assert folder.info().kind == "run"
    (folder.path / "comparison.json").write_text("{}")
    assert folder.info().kind == "ab"


def test_an_unknown_kind_is_named(tmp_path: Path) -> None:
    folder = session(tmp_path, "night", "run", 1)
    written = json.loads((folder.path / "session.json").read_text())
    (folder.path / "session.json").write_text(json.dumps({**written, "kind": "rnu"}))
    with pytest.raises(DataError, match=r"night/session.json: has kind 'rnu', which is none of run, ab"):
        folder.info()


def test_commands_write_their_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--results-dir", str(tmp_path)]
    assert main(["run", *where, "--runs", "1", "--", "true"]) == 0
    assert main(["calibrate", *where, "--pairs", "6", "--", "true"]) in (0, 1)
    assert main(["ab", *where, "--pairs", "6", "--", "true", "--", "true"]) == 0
    assert main(["rerun", *where, "latest/true"]) == 0
    (tmp_path / "h.json").write_text('{"results": [{"command": "true", "times": [0.1, 0.2], "exit_codes": [0, 0]}]}')
    assert main(["history", *where, "import", str(tmp_path / "h.json")]) == 0
    kinds = [SessionFolder(path.parent).info() for path in tmp_path.glob("*/session.json")]
    assert sorted(info.kind for info in kinds) == ["ab", "calibrate", "import", "rerun", "run"]
    assert find_session("latest", tmp_path).info().kind == "run"
    capsys.readouterr()
    assert main(["show", *where, "latest"]) == 0
    assert find_session("latest", tmp_path).path.name in capsys.readouterr().out


def test_a_history_of_the_earlier_schema_is_brought_up_to_date(tmp_path: Path) -> None:
    """Its session folders may be gone: it must not have to be made anew."""
    with History.beside(tmp_path) as history:
        for name, reason in (("night", "nightly"), ("again", "rerun of night/alm"), ("hf", "imported from hyperfine")):
            record = made_record(MadeRun("alm" if name != "hf" else "true", {"x": 1.0}), name, START)
            history.add(record, SessionInfo(name, START.isoformat(), reason=reason), MACHINE)
    with sqlite3.connect(tmp_path / "history.sqlite") as db:
        db.execute("ALTER TABLE session DROP COLUMN kind")
        db.execute("DROP TABLE tag")
        db.execute("DROP TABLE accepted")
        db.execute("ALTER TABLE fingerprint DROP COLUMN project")
        db.execute("ALTER TABLE run DROP COLUMN script")
        db.execute("PRAGMA user_version = 1")
    with History.beside(tmp_path, read_only=True) as history:
        assert {row.name: row.kind for row in history.sessions()} == {"night": "run", "again": "rerun", "hf": "import"}
        record = made_record(MadeRun("alm"), "later", START + timedelta(days=1))
        assert [run.session for run in history.last_comparable(record.fingerprint, record.started_at)] == ["night"]
    with History.beside(tmp_path) as history:
        assert history.record("night/alm/run-01") is not None
        tagged = SessionInfo("tagged", START.isoformat(), tags=("slow",), entry_tags={"alm": ("gpu",)})
        history.add(made_record(MadeRun("alm"), "tagged", START), tagged, MACHINE)
        assert [row.name for row in history.sessions(tag="gpu")] == ["tagged"]
        assert history.tags("tagged", "alm") == ("gpu", "slow")


def test_the_dashboard_offers_no_comparison_with_an_experiment(tmp_path: Path) -> None:
    with History.beside(tmp_path) as history:
        for day, (name, kind) in enumerate(
            (("night-1", "run"), ("ab-alm", "ab"), ("again", "rerun"), ("night-2", "run"))
        ):
            history.add_session(session(tmp_path, name, kind, day))  # type: ignore[arg-type]
    shown = sessions(Store(tmp_path), {})
    offered = {row.name: shown.previous(at) for at, row in enumerate(shown.sessions.rows)}
    assert {name: row and row.name for name, row in offered.items()} == {
        "night-2": "night-1", "again": "night-1", "ab-alm": None, "night-1": None,
    }  # fmt: skip
