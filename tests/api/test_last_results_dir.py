from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from workplace import Workplace

from assay.api.results_dir import last_results_dir, remember_results_dir, results_folder, sessions_folder

SESSION = "results_dir: elsewhere/nightly\nentries: [{name: e, command: 'echo heard'}]\n"


def test_show_logs_and_compare_look_where_the_last_run_wrote(workplace: Workplace, tmp_path: Path) -> None:
    workplace.environment["XDG_STATE_HOME"] = str(tmp_path / "state")
    workplace.write("session.yaml", SESSION)
    for _ in range(2):
        assert workplace.assay("run", "--config", "session.yaml").code == 0
    [first, second] = workplace.sessions("elsewhere/nightly")
    assert second.path.name in workplace.assay("show").out
    assert workplace.assay("logs", "e").out == "heard\n"
    compared = workplace.assay("compare")
    assert first.path.name in compared.out, compared.err
    assert workplace.assay("prune", "--keep", "0").out == ""
    assert len(workplace.sessions("elsewhere/nightly")) == 2
    assert "there is no session in elsewhere" in workplace.assay("show", "--results-dir", "elsewhere").err
    assert "there is no session in named" in workplace.assay("show", ASSAY_RESULTS_DIR="named").err


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("ASSAY_RESULTS_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_last_run_counts_and_only_from_the_same_folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = here / "other"
    other.mkdir()
    remember_results_dir(other)
    assert sessions_folder(None) == other
    assert results_folder(None) == Path("results")
    remember_results_dir(here / "results")
    assert sessions_folder(None) == Path("results")
    remember_results_dir(other)
    monkeypatch.chdir(other)
    assert sessions_folder(None) == Path("results")


def test_a_folder_that_is_gone_is_not_looked_at(here: Path) -> None:
    (here / "other").mkdir()
    remember_results_dir(here / "other")
    (here / "other").rmdir()
    assert last_results_dir() is None


def test_the_usual_folder_needs_no_memory(here: Path) -> None:
    remember_results_dir(Path("results"))
    assert not (here / "state").exists()


def test_a_memory_that_cannot_be_used_costs_nothing(here: Path) -> None:
    (here / "state").write_text("a file where a folder should be")
    remember_results_dir(here)
    assert last_results_dir() is None
    (here / "state").unlink()
    for content in ("", "[1]", '{"' + os.getcwd() + '": 3}', "\x00"):
        shutil.rmtree(here / "state", ignore_errors=True)
        (here / "state/assay").mkdir(parents=True)
        (here / "state/assay/results_dirs.json").write_text(content)
        assert last_results_dir() is None
        remember_results_dir(here)
        assert last_results_dir() == here


def test_folders_that_ran_longest_ago_are_forgotten(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.api.results_dir.MOST_KEPT", 3)
    for number in range(4):
        (here / str(number)).mkdir()
        monkeypatch.chdir(here / str(number))
        remember_results_dir(here)
    assert last_results_dir() == here
    monkeypatch.chdir(here / "0")
    assert last_results_dir() is None
