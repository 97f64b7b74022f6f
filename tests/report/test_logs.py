from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from session_factory import MadeRun, make_session

from assay.cli.main import main


def test_what_an_entry_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_session(tmp_path, [MadeRun("a", log="one\n", repeat=r, repeats=2) for r in (1, 2)])
    (tmp_path / "nightly-run__2026-03-01__02-00-00/a/run-01/logs/stderr.log").write_text("two\n")
    common = ["logs", "a", "--results-dir", str(tmp_path)]
    assert main(common) == 0
    assert main([*common, "--stderr", "--repeat", "1"]) == 0
    assert capsys.readouterr().out == "one\ntwo\n"


def test_an_entry_that_printed_nothing_is_said_to_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_session(tmp_path, [MadeRun("a", log="")])
    assert main(["logs", "a", "--results-dir", str(tmp_path)]) == 0
    assert main(["logs", "a", "--stderr", "--results-dir", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "assay: 'a' printed nothing\nassay: 'a' printed nothing to standard error\n"


def test_follow_prints_until_the_session_has_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_session(tmp_path, [MadeRun("a")], finished=False, planned=("a", "b"))
    log = folder.path / "b" / "stdouterr.log"
    log.parent.mkdir()
    log.write_text("first\n")

    def write() -> None:
        with log.open("a") as out:
            out.write("second\n")
        folder.write_info(replace(folder.info(), status="finished"))

    writer = threading.Timer(0.3, write)
    writer.start()
    assert main(["logs", "b", "--follow", "--results-dir", str(tmp_path)]) == 0
    writer.join()
    assert capsys.readouterr().out == "first\nsecond\n"


@pytest.mark.parametrize(("entry", "message"), [("alpa", "did you mean 'alpha'?"), ("../..", "(known: alpha)")])
def test_no_such_log(tmp_path: Path, entry: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    make_session(tmp_path, [MadeRun("alpha")])
    assert main(["logs", entry, "--results-dir", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err
