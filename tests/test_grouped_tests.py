from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from grouped_tests import TOGETHER, group_of

PROBE = """
import os, pathlib, pytest
@pytest.mark.parametrize("n", range(6))
def test_of_a_group(n):
    (pathlib.Path("seen") / f"{os.environ['PYTEST_XDIST_WORKER']}-{n}").touch()
"""


@pytest.mark.parametrize("group", TOGETHER)
def test_a_group_is_there_and_is_kept_together(group: str) -> None:
    assert Path(group).exists()
    assert group_of(f"{group}::test_a[1]") == group_of(f"{group}::test_b") == group


def test_others_go_where_there_is_room() -> None:
    ids = [f"tests/pipeline/test_pipeline.py::test_a[{n}]" for n in range(3)]
    assert [group_of(one) for one in ids] == ids


def test_one_process_of_two_runs_all_tests_of_a_group(tmp_path: Path) -> None:
    """A small project of its own is run with the conftest of this one; whose coverage is measured here is not in it."""
    tests = tmp_path / "tests/pipeline/ray"
    tests.mkdir(parents=True)
    (tmp_path / "seen").mkdir()
    (tests / "test_probe.py").write_text(PROBE)
    (tmp_path / "tests/conftest.py").write_text(Path("tests/conftest.py").read_text())
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {Path('tests/support').resolve()}\n")
    words = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "tests"]
    environment = {name: value for name, value in os.environ.items() if name != "ASSAY_COVERAGE"}
    done = subprocess.run(
        words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    seen = [path.name for path in (tmp_path / "seen").iterdir()]
    assert len(seen) == 6
    assert len({name.split("-")[0] for name in seen}) == 1
