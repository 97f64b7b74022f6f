"""Weight suites on a terminal, and what is left of that in a file."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import TextIO

import pytest
from small_terminal import SmallTerminal

from assay.api.console import Console, SuiteView
from assay.benchmarks.weights.bench_plan import SuiteProgress
from assay.record.secrets import Masker


def view(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: TextIO) -> SuiteView:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "44")
    monkeypatch.setattr("sys.stderr", stream)
    return SuiteView(Console(tmp_path / "log", Masker({}), stream))


def test_one_line_that_is_written_over_fits_and_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = SmallTerminal(44)
    show = view(tmp_path, monkeypatch, terminal)
    progress = SuiteProgress([10, 10], ["memory", "memory"], show)
    progress.begin("memory/a_scenario_with_a_name_that_goes_on_and_on")
    assert terminal.frames[-1] == ["[1/2] memory/a_scenario_w…t least 0:20 left"]
    progress.end()
    progress.begin("memory/lazy")
    assert terminal.frames[-1] == ["[2/2] memory/lazy: 0:07 left"]
    show("")
    assert terminal.frames[-1] == [""]


def test_a_line_a_scenario_where_it_is_no_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = StringIO()
    show = view(tmp_path, monkeypatch, file)
    SuiteProgress([10, 10], ["memory", "memory"], show).begin("memory/lazy")
    show("")
    assert file.getvalue() == "[1/2] memory/lazy: at least 0:20 left\n"
