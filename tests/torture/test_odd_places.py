"""What a user or a link may name where a file is meant: FIFOs, sockets, devices, loops, names that cannot be."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from readings import asked, assay, tried
from session_factory import MadeRun, make_session
from starlette.testclient import TestClient

from assay.server.app import dashboard

KINDS = ("folder", "fifo", "socket", "loop", "dangling", "zeros", "empty", "binary", "sparse", "list", "long")
COMMANDS = {
    "import": ("history", "--results-dir", "R", "import", "P"),
    "show": ("show", "P", "--results-dir", "R"),
    "compare": ("compare", "P", "P", "--results-dir", "R"),
    "report": ("report", "P", "--results-dir", "R", "--output", "-"),
    "logs": ("logs", "alm", "--session", "P", "--results-dir", "R"),
    "rerun": ("rerun", "P/alm", "--results-dir", "R"),
    "resume": ("run", "--resume", "P", "--results-dir", "R"),
    "plan": ("plan", "--config", "P"),
    "migrate": ("migrate", "P"),
    "show in": ("show", "--results-dir", "P"),
    "history in": ("history", "--results-dir", "P"),
    "prune in": ("prune", "--keep", "1", "--results-dir", "P"),
    "sinks": ("sinks", "status", "P", "--results-dir", "R"),
}


def _made(folder: Path, kind: str) -> Path:
    path = folder / kind
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(path))
    elif kind in ("loop", "dangling", "zeros"):
        path.symlink_to({"loop": "loop", "dangling": "nowhere", "zeros": "/dev/zero"}[kind])
    elif kind == "long":
        return Path("n" * 5000)
    else:
        path.write_bytes({"empty": b"", "binary": bytes(range(256)), "list": b"[]", "sparse": b""}[kind])
        if kind == "sparse":
            os.truncate(path, 2**40)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_every_command_answers_whatever_it_is_pointed_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    path = _made(tmp_path, kind)
    for command, words in COMMANDS.items():
        given = [word.replace("P", str(path), 1) if word[:1] == "P" else word for word in words]
        given = [str(tmp_path / "results") if word == "R" else word for word in given]
        found = tried(command, lambda given=given: assay(*given))  # type: ignore[misc]
        assert found is None, str(found)


def test_a_configuration_may_come_through_a_pipe(tmp_path: Path) -> None:
    read, write = os.pipe()
    with open(write, "wb") as pipe:
        pipe.write(b"results_dir: r\nentries: [{name: a, command: 'true'}]\n")
    command = [sys.executable, "-m", "assay", "plan", "--config", f"/dev/fd/{read}"]
    done = subprocess.run(command, pass_fds=[read], cwd=tmp_path, capture_output=True, text=True, check=False)
    os.close(read)
    assert "1 entry, 1 run" in done.stdout, done.stderr


ASKED = {
    "/": ("page", "entry", "commit"), "/session": ("name",), "/session/entry": ("session", "entry"),
    "/entries": ("name",), "/entry": ("name",), "/series": ("id", "last"), "/compare": ("base", "head"),
    "/runs": ("session", "entry", "outcome", "page"), "/live": ("name",),
}  # fmt: skip
VALUES = ("n" * 5000, "😀" * 100, "a/" * 3000, "a\0b", "..", "../..", "-1", "9" * 30, "²", "\x1b[2J", "e" * 40, "[]")


def test_the_dashboard_answers_whatever_its_address_says(tmp_path: Path) -> None:
    make_session(tmp_path, [MadeRun("alm", {"x": 1.0})])
    assert assay("history", "--results-dir", str(tmp_path), "import").code == 0
    client = TestClient(dashboard(tmp_path), base_url="http://localhost")
    for page, names in ASKED.items():
        for value in VALUES:
            for given in (*([name] for name in names), names):
                address = f"{page}?{'&'.join(f'{name}={quote(value)}' for name in given)}"
                found = asked(client, page, address)
                assert found is None, f"{address[:100]}: {found}"


def test_a_damaged_session_is_told_to_the_page_that_watches_it(tmp_path: Path) -> None:
    folder = make_session(tmp_path, [MadeRun("alm", {"x": 1.0})])
    (folder.path / "session.json").write_text('{"name": 3}')
    client = TestClient(dashboard(tmp_path), base_url="http://localhost")
    answer = client.get(f"/live?name={folder.path.name}")
    assert answer.status_code == 400
    assert answer.json()["status"] == "unreadable"
    assert "name is a number, not text" in answer.json()["message"]
