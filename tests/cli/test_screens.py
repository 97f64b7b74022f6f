"""Control characters that others wrote never reach a terminal or session.log as they are."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from argparse import Namespace
from types import SimpleNamespace

import pytest
from workplace import Workplace

from assay.cli.weights import log

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\x1b[31m\u202e\r"
OURS = re.compile(r"\x1b\[(?:0|1|2|3[1-6])m|(?:\x1b\[1A)?\r\x1b\[2?K|\r\n")
RAW = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")

PROGRAM = f"""
import json, pathlib, pickle, sys
out = pathlib.Path(sys.argv[sys.argv.index("--benchmark-results-path") + 1])
bad = {HOSTILE!r}
(out / "params.json").write_text(json.dumps({{"p" + bad: bad}}))
(out / "metrics.json").write_text(json.dumps({{"m" + bad: 1, "better": {{"value": 1, "better": bad}}}}))
name = ("os" + bad).encode("utf-8")
(out / "tasks.pkl").write_bytes(b"\\x80\\x04\\x8c" + bytes([len(name)]) + name + b"\\x8c\\x01x\\x93.")
print(bad)
print("said", bad, file=sys.stderr)
sys.exit(3)
"""


def _raw(text: str) -> list[str]:
    return RAW.findall(OURS.sub("", text))


def _on_terminal(place: Workplace, *words: str) -> str:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        place.argv(*words), cwd=place.folder, env=place.environment, stdout=theirs, stderr=theirs, stdin=theirs
    ) as process:
        os.close(theirs)
        read = b""
        try:
            while block := os.read(ours, 65536):
                read += block
        except OSError:  # the other end is closed
            pass
        process.wait(timeout=60)
    os.close(ours)
    return read.decode("utf-8", "replace")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    place = Workplace(tmp_path_factory.mktemp("screens"))
    place.write("bad.py", PROGRAM)
    place.write("session.yaml", "results_dir: results\nentries: [{name: bad, script: bad.py}]\n")
    return place


def test_a_run_on_a_terminal_and_its_log(place: Workplace) -> None:
    said = _on_terminal(place, "run", "--config", "session.yaml", "--reason", f"why {HOSTILE}")
    assert "owned" in said
    assert _raw(said) == []
    kept = (place.sessions()[0].path / "session.log").read_bytes().decode()
    assert "owned" in kept
    assert _raw(kept) == []


def test_a_run_into_a_pipe(place: Workplace) -> None:
    answer = place.assay("run", "--config", "session.yaml")
    assert _raw(answer.out + answer.err) == []


@pytest.mark.parametrize(
    "words", [("show", "latest"), ("show", "latest", "bad"), ("logs", "bad"), ("show", HOSTILE), ("run", HOSTILE)]
)
def test_commands_on_a_terminal(place: Workplace, words: tuple[str, ...]) -> None:
    assert _raw(_on_terminal(place, *words)) == []


class _Repository:
    """What a hostile remote could have sent."""

    def log(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(id="0" * 64, created_at=0.0, branch=HOSTILE, parents=(), entries=(), message=HOSTILE)]

    def find(self, *_: object) -> list[SimpleNamespace]:
        return [SimpleNamespace(digest="0" * 64, dtype="float32", shape=(4,), name=HOSTILE)]


@pytest.mark.parametrize("ref", [None, "main"])
def test_commit_messages_and_tensor_names(
    ref: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("assay.weights.repository.Repository.open", lambda *_: _Repository())
    assert log.run(Namespace(repo="repo", ref=ref, name=None)) == 0
    said = capsys.readouterr().out
    assert "owned" in said
    assert _raw(said) == []
