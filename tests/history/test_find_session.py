from __future__ import annotations

import subprocess
from datetime import timedelta
from pathlib import Path

import pytest
from session_factory import MACHINE, START, MadeRun, later, make_session

from assay.cli.main import main
from assay.errors import UsageError
from assay.history import find_session


@pytest.fixture
def results(tmp_path: Path) -> Path:
    for night, commit in enumerate(("a" * 40, "b" * 40, "b" * 40)):
        make_session(
            tmp_path / "results",
            [MadeRun("alm")],
            name=f"night__{night}",
            started=START + timedelta(days=night),
            environment=later(MACHINE, commit),
        )
    return tmp_path / "results"


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("latest", "night__2"),
        ("latest~0", "night__2"),
        ("latest~2", "night__0"),
        ("night__1", "night__1"),
        ("aaaaaaa", "night__0"),
        ("bbbbbbbbbbbb", "night__2"),
    ],
)
def test_words(results: Path, word: str, name: str) -> None:
    assert find_session(word, results).path.name == name


def test_a_folder(results: Path) -> None:
    assert find_session(str(results / "night__1"), Path("elsewhere")).path == results / "night__1"


def test_a_git_revision_by_name(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = results.parent / "repository"
    repository.mkdir()
    git = ["git", "-C", str(repository), "-c", "user.name=x", "-c", "user.email=x@example.com"]
    subprocess.run([*git, "init", "-q", "-b", "trunk"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    folder = make_session(results, [MadeRun("alm")], name="of-trunk", environment=later(MACHINE, commit))
    monkeypatch.chdir(repository)
    assert find_session("trunk", results).path == folder.path


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("latest~3", "only 3 session"),
        ("night", "beginning of 3 sessions"),
        ("tuesday", "no session 'tuesday'.*the newest: night__2"),
    ],
)
def test_what_is_not_there(results: Path, word: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find_session(word, results)


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no session in"):
        find_session("latest", tmp_path)


def test_a_damaged_folder_hides_no_other(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, content in (
        ("broken__1", "{"),
        ("broken__2", "{}"),
        ("broken__3", '{"name": "x", "started_at": "soon"}'),
    ):
        (results / name).mkdir()
        (results / name / "session.json").write_text(content)
    assert find_session("latest", results).path.name == "night__2"
    assert main(["history", "--results-dir", str(results), "import"]) == 2
    captured = capsys.readouterr()
    assert captured.out.count("1 new") == 3
    assert "broken__2/session.json: name is missing" in captured.err
    assert "3 could not be read; the rest was" in captured.err
