from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from golden import check_golden
from nightly import nightly_runs, rich_runs
from session_factory import START, MadeRun, make_session

from assay.cli.main import main
from assay.history import History
from assay.record import Outcome
from assay.report.markdown import escape, session_markdown

GOLDEN = Path(__file__).parent / "golden"


def test_the_same_content_as_markdown(tmp_path: Path) -> None:
    before = make_session(tmp_path, nightly_runs(1.0, 3), name="before", started=START - timedelta(days=1))
    folder = make_session(tmp_path, [*nightly_runs(1.12), *rich_runs()])
    with History.beside(tmp_path) as history:
        history.add_session(before)
        check_golden(GOLDEN / "report.md", session_markdown(folder, history=history))


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("a|b", "a\\|b"),
        ("<b>", "&lt;b&gt;"),
        ("[x](y)", "\\[x\\](y)"),
        ("two\nlines", "two\\\\x0alines"),
        ("`c`", "\\`c\\`"),
    ],
)
def test_nothing_is_markup(text: str, safe: str) -> None:
    assert escape(text) == safe


def test_a_log_cannot_end_its_fence(tmp_path: Path) -> None:
    folder = make_session(tmp_path, [MadeRun("a", outcome=Outcome.FAILED, log="```\n# not a heading\n")])
    assert "````\n```\n# not a heading\n````" in session_markdown(folder)


def test_the_command_writes_either(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_session(tmp_path, [MadeRun("a")], name="one")
    common = ["report", "one", "--results-dir", str(tmp_path)]
    assert main(common) == main([*common, "--format", "markdown"]) == main([*common, "-o", str(tmp_path / "x.md")]) == 0
    assert (tmp_path / "one/report.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "one/report.md").read_text() == (tmp_path / "x.md").read_text()
    assert main([*common, "-o", str(tmp_path / "no/such/folder.html")]) == 2
    assert "No such file or directory" in capsys.readouterr().err
