from __future__ import annotations

import os
from pathlib import Path

import pytest
from nightly import REPEATS, nightly_runs
from session_factory import MadeRun, make_session

from assay.cli.main import main
from assay.record import Outcome
from assay.report.terminal import session_summary

GOLDEN = Path(__file__).parent / "golden"


def check_golden(name: str, text: str) -> None:
    """`ASSAY_GOLDEN=write pytest …` writes the files anew; look at the difference before committing it."""
    path = GOLDEN / name
    if os.environ.get("ASSAY_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_summary_of_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = make_session(
        Path("results"), nightly_runs(), planned=(*dict.fromkeys(r.entry for r in nightly_runs()), "last")
    )
    changes = ("alm rows_per_s: −12.1% (−13.0% to −11.2%) regressed",)
    check_golden("summary.txt", session_summary(folder, changes=changes))


def test_the_command_prints_plain_text_into_a_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_RESULTS_DIR", str(tmp_path))
    make_session(tmp_path, [MadeRun("a", outcome=Outcome.FAILED, log="\x1b[2Jgone\n", reasons=("exited with code 1",))])
    assert main(["show"]) == 0
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "| \\x1b[2Jgone" in printed


def test_colour_is_only_around_the_words(tmp_path: Path) -> None:
    folder = make_session(tmp_path, [MadeRun("a")])
    plain, coloured = session_summary(folder), session_summary(folder, colour=True)
    assert coloured != plain
    for code in ("\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[0m"):
        coloured = coloured.replace(code, "")
    assert coloured == plain


def test_one_entry_in_full(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_session(tmp_path, nightly_runs())
    assert main(["show", "--results-dir", str(tmp_path), "--entry", "alm"]) == 0
    check_golden("entry.txt", capsys.readouterr().out)
    assert main(["show", "--results-dir", str(tmp_path), "--entry", "alms"]) == 2
    assert "unknown entry 'alms'" in capsys.readouterr().err


def test_records_as_json_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import json

    make_session(tmp_path, nightly_runs())
    assert main(["show", "--results-dir", str(tmp_path), "--json", "--entry", "alm"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["repeat"] for line in lines] == list(range(1, REPEATS + 1))
