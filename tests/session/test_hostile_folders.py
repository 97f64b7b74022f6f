"""A program that lays hands on the session's folder, or names that no file can hold, cost no record and no session."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from workplace import Answer, Workplace

from assay.record import Outcome, Record

START = """
import json, os, pathlib, shutil, sys
out = pathlib.Path(sys.argv[sys.argv.index("--benchmark-results-path") + 1])
(out / "params.json").write_text("{}")
(out / "metrics.json").write_text('{"rows": 5}')
entry = out.parent
session = entry.parent
results, info = session / "results.jsonl", session / "session.json"
"""

SCRIPTS = {
    "first": "",
    "own_fifo": 'os.mkfifo(entry / "results.jsonl")',
    "own_folder": '(entry / "results.jsonl").mkdir()',
    "own_link": '(entry / "results.jsonl").symlink_to(session.parent.parent / "outside")',
    "results_fifo": "results.unlink(); os.mkfifo(results)",
    "results_folder": "results.unlink(); results.mkdir()",
    "results_link": 'results.unlink(); results.symlink_to(session.parent.parent / "outside")',
    "results_gone": "results.unlink()",
    "results_cut": 'results.write_bytes(b"\\xff{")',
    "info_fifo": "info.unlink(); os.mkfifo(info)",
    "info_folder": "info.unlink(); info.mkdir()",
    "environment_gone": '(session / "env.json").unlink()',
    "reserve_folder": '(session / ".reserve").unlink(missing_ok=True); (session / ".reserve").mkdir()',
    "traps": 'os.mkfifo(session / "next_fifo"); (session / "next_link").symlink_to(session.parent.parent / "kept")',
    "next_fifo": "",
    "next_link": "",
    "own_gone": "shutil.rmtree(entry)",
    "own_file": 'shutil.rmtree(entry); entry.write_text("x")',
    "all_gone": "shutil.rmtree(session)",
    "last": "",
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workplace, Answer, dict[str, Record]]:
    place = Workplace(tmp_path_factory.mktemp("hostile-folders"))
    place.write("kept/precious", "1")
    entries = []
    for name, body in SCRIPTS.items():
        place.write(f"scripts/{name}.py", START + body)
        entries.append(f"  - {{name: {name}, script: {name}.py}}\n")
    place.write("session.yaml", "results_dir: results\ndefault_timeout_s: 60\nentries:\n" + "".join(entries))
    answer = place.assay("run", "--config", "session.yaml")
    return place, answer, place.records()


def test_every_run_has_its_record_whatever_was_done_to_the_files(
    ran: tuple[Workplace, Answer, dict[str, Record]],
) -> None:
    place, answer, records = ran
    assert list(records) == list(SCRIPTS)
    assert answer.code == 1
    assert place.sessions()[0].info().status == "finished"
    failed = {name for name, record in records.items() if record.outcome is not Outcome.PASSED}
    assert failed == {"own_gone", "own_file", "all_gone"}


def test_nothing_is_written_through_a_link(ran: tuple[Workplace, Answer, dict[str, Record]]) -> None:
    folder = ran[0].folder
    assert not (folder / "outside").exists()
    assert [path.name for path in (folder / "kept").iterdir()] == ["precious"]


@pytest.mark.parametrize("name", ["session.json", "Results.jsonl", "artifacts", "report.html"])
def test_an_entry_cannot_have_the_name_of_a_file_of_the_session(tmp_path: Path, name: str) -> None:
    place = Workplace(tmp_path)
    place.write("session.yaml", f'results_dir: results\nentries:\n  - {{name: {name}, command: "true"}}\n')
    answer = place.assay("run", "--config", "session.yaml")
    assert answer.code == 2
    assert f"a session has a file or folder of its own that is called {name}: choose another name" in answer.err
    assert not (tmp_path / "results").exists()


def test_what_is_no_utf_8_is_kept_as_what_a_file_can_hold(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/w\xff"))
    folder.mkdir()
    for words in (
        ["init", "-q"],
        ["-c", "user.email=a@b", "-c", "user.name=n", "commit", "-q", "--allow-empty", "-mx"],
    ):
        subprocess.run(["git", *words], cwd=folder, check=True, timeout=60)
    subprocess.run(["git", "checkout", "-q", "-b", b"b\xff"], cwd=folder, check=True, timeout=60)
    place = Workplace(folder)
    answer = place.assay("run", "--runs", "1", "--reason", "r\udcff", "--", "/bin/echo", "a\udcff\udc80")
    assert (answer.code, "hears no more" in answer.err + answer.out) == (0, False)
    session = place.sessions()[0]
    assert session.info().reason == "r\ufffd"
    assert session.environment().git_branch in ("b\ufffd", "b\\377", '"b\\377"')
    assert session.records()[0].command == "/bin/echo 'a\ufffd\ufffd'"
    assert place.assay("show", "latest").code == 0
