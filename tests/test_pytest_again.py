from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from declared import ROOT

FLAKY = """
from pathlib import Path
def test_passes(): assert True
def test_fails_at_first():
    tried = Path(__file__).with_name("tried")
    before, _ = tried.exists(), tried.touch()
    assert before
"""
BROKEN = "def test_always_fails(): assert False, 'as ever'\n"


def run(folder: Path, *arguments: str) -> tuple[int, str, list[str]]:
    failed_once = folder / "failed-once.txt"
    environment = {**os.environ, "FAILED_ONCE": str(failed_once), "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [sys.executable, "-m", "tools.pytest_again", "-p", "no:assay", *arguments, "."],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    named = failed_once.read_text().splitlines() if failed_once.exists() else []
    return ended.returncode, ended.stdout, named


@pytest.mark.parametrize("processes", ["0", "2"])
def test_what_passes_the_second_time_is_named(tmp_path: Path, processes: str) -> None:
    (tmp_path / "test_flaky.py").write_text(FLAKY)
    code, printed, named = run(tmp_path, "-n", processes)
    assert (code, named) == (0, ["  test_flaky.py::test_fails_at_first"])
    assert "1 failed, 1 passed" in printed
    # Alone: what passed is not run again.
    assert "1 passed" in printed.splitlines()[-1]


def test_what_fails_again_fails(tmp_path: Path) -> None:
    (tmp_path / "test_flaky.py").write_text(FLAKY)
    (tmp_path / "test_broken.py").write_text(BROKEN)
    code, printed, named = run(tmp_path, "-n", "2")
    assert (code, named) == (1, ["  test_flaky.py::test_fails_at_first"])
    assert printed.count("as ever") >= 2


def test_nothing_is_run_again_where_all_pass_or_very_many_fail(tmp_path: Path) -> None:
    passes = tmp_path / "passes"
    passes.mkdir()
    (passes / "test_passes.py").write_text("def test_passes(): pass\n")
    code, printed, named = run(passes)
    assert (code, printed.count(" in "), named) == (0, 1, [])
    (tmp_path / "test_many.py").write_text(
        "import pytest\n@pytest.mark.parametrize('n', range(21))\ndef test_fails(n): assert n < 0\n"
    )
    code, printed, named = run(tmp_path, "test_many.py")
    assert (code, named) == (1, [])
    assert "Once more" not in printed


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("def test_ends(): import os; os._exit(9)\n", 9),
        ("import pytest\ndef test_stops(): pytest.exit('enough', 4)\n", 4),
        ("import nothing_of_this_name\n", 2),
        ("", 5),
    ],
)
def test_an_end_of_pytest_itself_is_a_failure_at_once(tmp_path: Path, text: str, code: int) -> None:
    (tmp_path / "test_one.py").write_text(text)
    ended, printed, named = run(tmp_path)
    assert (ended, named) == (code, [])
    assert "Once more" not in printed
