from __future__ import annotations

from pathlib import Path

import pytest
from golden import check_golden
from nightly import REPEATS, nightly_runs
from session_factory import MadeRun, make_session

from assay.cli.main import main
from assay.record import Outcome
from assay.report.text.entry import entry_details
from assay.report.text.screen import Screen, columns
from assay.report.text.session import session_summary

GOLDEN = Path(__file__).parent / "golden"


def test_summary_of_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = make_session(
        Path("results"), nightly_runs(), planned=(*dict.fromkeys(r.entry for r in nightly_runs()), "last")
    )
    changes = ("alm rows_per_s: −12.1% (−13.0% to −11.2%) regressed",)
    check_golden(GOLDEN / "summary.txt", session_summary(folder, changes=changes, regressed={"alm"}))


@pytest.mark.parametrize("width", [80, 160])
def test_a_summary_fits_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.chdir(tmp_path)
    folder = make_session(Path("results"), nightly_runs())
    changes = ("regressed: alm rows_per_s −12.1% (−13.0% to −11.2%); " + "held against the level of 12 sessions; " * 3,)
    text = session_summary(folder, changes=changes, regressed={"alm"}, screen=Screen(width=width))
    check_golden(GOLDEN / f"summary-{width}.txt", text)
    assert max(map(columns, text.splitlines())) <= width


def test_failures_and_regressions_come_first(tmp_path: Path) -> None:
    runs = [MadeRun("a"), MadeRun("b"), MadeRun("c", outcome=Outcome.FAILED, reasons=("exited with code 1",))]
    text = session_summary(make_session(tmp_path, runs), regressed={"b"})
    assert "✗ 1 failed · ▼ 1 regressed · ✓ 1 passed" in text.splitlines()[0]
    table = text[text.index("entry  outcome") :].splitlines()[1:]
    assert [line.split()[:3] for line in table] == [["c", "✗", "failed"], ["b", "▼", "regressed"], ["a", "✓", "passed"]]


def test_a_table_that_says_no_more_than_the_lines_above_it_is_left_out(tmp_path: Path) -> None:
    bare = make_session(tmp_path, [MadeRun("a"), MadeRun("b")], name="bare")
    assert "outcome" not in session_summary(bare, after_lines=True)
    assert "outcome" in session_summary(bare)
    measured = make_session(tmp_path, [MadeRun("a", {"rows_per_s": 5.0})], name="measured")
    assert "rows_per_s 5" in session_summary(measured, after_lines=True)


def test_of_many_failures_each_has_its_reason_and_the_first_few_their_logs(tmp_path: Path) -> None:
    runs = [MadeRun(f"e{at}", outcome=Outcome.FAILED, reasons=(f"exited with code {at}",)) for at in range(1, 31)]
    text = session_summary(make_session(tmp_path, runs))
    assert all(f"exited with code {at}\n" in text for at in range(1, 31))
    assert text.count("the end of ") == 5


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
    plain, coloured = session_summary(folder), session_summary(folder, screen=Screen(colour=True))
    assert coloured != plain
    for code in ("\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[0m"):
        coloured = coloured.replace(code, "")
    assert coloured == plain


@pytest.mark.parametrize("entry", ["alm", "minhash"])
def test_one_entry_in_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], entry: str
) -> None:
    monkeypatch.chdir(tmp_path)
    make_session(Path("results"), nightly_runs())
    assert main(["show", "--results-dir", "results", "--entry", entry]) == 0
    check_golden(GOLDEN / f"entry-{entry}.txt", capsys.readouterr().out)


def test_an_entry_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_session(tmp_path, nightly_runs())
    assert main(["show", "--results-dir", str(tmp_path), "--entry", "alms"]) == 2
    assert "unknown entry 'alms'" in capsys.readouterr().err


@pytest.mark.parametrize("width", [60, 80, 160])
def test_an_entry_fits_the_terminal(tmp_path: Path, width: int) -> None:
    folder = make_session(tmp_path, nightly_runs())
    for entry in ("alm", "minhash", "train"):
        text = entry_details(folder, entry, screen=Screen(width=width))
        tables = text.split("\n\n")[1:-1]  # not what is to be copied: its command and the path of its log
        assert max(columns(line) for table in tables for line in table.splitlines()) <= width


def test_a_regressed_session_is_shown_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from datetime import timedelta

    from session_factory import START

    from assay.history import History

    def runs(seconds: float) -> list[MadeRun]:
        times = [seconds * (1 + at / 1000) for at in range(1, 9)]
        return [MadeRun("alm", exec_time_s=time, repeat=at, repeats=8) for at, time in enumerate(times, start=1)]

    folders = [
        make_session(tmp_path, runs(10.0), name="night-1", started=START),
        make_session(tmp_path, runs(20.0), name="night-2", started=START + timedelta(days=1)),
    ]
    with History.beside(tmp_path) as history:
        for folder in folders:
            history.add_session(folder)
    assert main(["show", "night-2", "--results-dir", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "▼ 1 regressed" in shown.splitlines()[0]
    assert "What changed" in shown
    assert main(["show", "night-2", "--results-dir", str(tmp_path), "--entry", "alm"]) == 0
    assert capsys.readouterr().out.startswith("alm: passed, regressed\n")
    assert main(["show", "night-1", "--results-dir", str(tmp_path)]) == 0
    assert "regressed" not in capsys.readouterr().out


def test_records_as_json_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import json

    make_session(tmp_path, nightly_runs())
    assert main(["show", "--results-dir", str(tmp_path), "--json", "--entry", "alm"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["repeat"] for line in lines] == list(range(1, REPEATS + 1))
