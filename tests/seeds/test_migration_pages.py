"""Every block and command of docs/migrate, written and run as a reader would, in order, in one folder a page."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.seeds.conftest import PlannedRuns
from tests.seeds.migration_page import FOLDER, PAGES, MigrationPage
from workplace import Workplace

from assay.benchmarks.weights import program
from assay.cli.command_table import COMMANDS
from assay.cli.main import main

NOT_SET = ("MLFLOW_TRACKING_URI", "NIGHTLY_WEBHOOK", "SLACK_CHANNEL_ID", "SLACK_WEBHOOK_URL")
SUITES = "assay.benchmarks.weights."


def run(place: Workplace, words: list[str]) -> int:
    """The exit code. Weight suites take minutes: they are planned, in this process."""
    if words[:3] == ["assay", "weights", "bench"]:
        return main(words[1:])
    if words[0] == "python" and words[2].startswith(SUITES):
        return program.main(words[2].removeprefix(SUITES), words[3:])
    words = [sys.executable, *words[1:]] if words[0] == "python" else words
    words = place.argv(*words[1:]) if words[0] == "assay" else words
    done = subprocess.run(words, cwd=place.folder, env=place.environment, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    print(done.stdout, done.stderr)
    return done.returncode


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_shows_runs(
    workplace: Workplace, planned: PlannedRuns, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "my_suite", raising=False)  # of another test in this process
    page = MigrationPage(name)
    path = f"{Path(sys.executable).parent}{os.pathsep}{workplace.environment['PATH']}"
    workplace.environment["PATH"] = path
    for variable in NOT_SET:
        workplace.environment.pop(variable, None)
    for file, text in page.files().items():
        workplace.write(file, text)
    commands = page.commands()
    assert commands
    for words in commands:
        assert run(workplace, words) == 0, words
    assert len(planned) == sum("weights" in " ".join(words[:3]) for words in commands)


@pytest.mark.parametrize("name", [*PAGES, "index.md"])
def test_what_a_page_names_is_there(name: str) -> None:
    page = MigrationPage(name)
    assert page.mentioned() <= {command.name for command in COMMANDS}
    assert [link for link in page.links() if not (FOLDER / link).is_file()] == []


def test_each_document_has_a_page() -> None:
    assert PAGES == ["alm.md", "colocation.md", "framework.md", "nightly.md", "weight_suites.md"]
