from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import assay
from assay.history import History, session_folders
from assay.record import Outcome

TESTS = """
import pytest

@pytest.mark.parametrize("n", [10, 1000])
def test_sum(assay_benchmark, n):
    assert assay_benchmark(sum, range(n)) == n * (n - 1) // 2
    assay_benchmark.metric("items", n, unit="1", better="higher")

def test_wrong(assay_benchmark):
    assert assay_benchmark(len, "ab") == 3

def test_without():
    pass
"""


def run_pytest(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(assay.__file__).parents[1])}
    # An installed Assay is found by its entry point, and must not be named a second time.
    installed = "assay" in entry_points(group="pytest11").names
    plugin = [] if installed else ["-p", "assay.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin, *more]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.slow
def test_timings_become_records_like_any_others(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    first = run_pytest(tmp_path, "--assay-rounds", "6")
    assert "1 failed, 3 passed" in first.stdout, first.stdout + first.stderr
    second = run_pytest(tmp_path, "--assay-rounds", "6", "--assay-results-dir", "results")
    assert "report: results/pytest" in second.stdout
    newest, older = session_folders(tmp_path / "results")
    by_name = {record.name: record for record in newest.records()}
    assert set(by_name) == {"test_it.py::test_sum[10]", "test_it.py::test_sum[1000]", "test_it.py::test_wrong"}
    small = by_name["test_it.py::test_sum[10]"]
    assert len(small.metrics["time_s"].samples) == 6
    assert small.metrics["items"].value == 10
    assert small.script_params == {"n": "10"}
    wrong = by_name["test_it.py::test_wrong"]
    assert wrong.outcome is Outcome.FAILED
    assert "assert 2 == 3" in wrong.reasons[0]
    assert newest.report.is_file()
    assert newest.info().status == "finished"
    with History.beside(tmp_path / "results") as history:
        [series] = history.series(entry="test_it.py::test_sum[10]", metric="time_s")
        assert series.points == 2
    assert older.path != newest.path


def test_a_run_without_benchmarks_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it():\n    pass\n")
    assert run_pytest(tmp_path).returncode == 0
    assert not (tmp_path / "results").exists()


UNCHANGED = """
import os
import numpy as np
import pytest

@pytest.mark.parametrize("which", [1, 2, 3])
def test_unchanged(assay_benchmark, which):
    rng = np.random.default_rng([which, int(os.environ["NIGHT"])])
    level = 0.01 * np.exp(rng.normal(0, 0.02))
    samples = level * np.exp(rng.normal(0, 0.005, 30))
    assay_benchmark.metric("time_s", float(np.median(samples)), unit="s", better="lower", samples=samples.tolist())
"""

NIGHTS = """
import os, sys
import pytest

for night in range(13):
    os.environ["NIGHT"] = str(night)
    assert pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:], "test_it.py"]) == 0
"""


@pytest.mark.slow
def test_unchanged_tests_run_13_times_are_announced_never(tmp_path: Path) -> None:
    """Samples of 0.5% around a level that moves by 2% from run to run: by samples alone, most pairs of runs differ."""
    (tmp_path / "test_it.py").write_text(UNCHANGED)
    (tmp_path / "nights.py").write_text(NIGHTS)
    installed = "assay" in entry_points(group="pytest11").names
    environment = {**os.environ, "PYTHONPATH": str(Path(assay.__file__).parents[1])}
    command = [sys.executable, "nights.py", *([] if installed else ["-p", "assay.pytest_plugin"])]
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("report: ") == 13
    assert "one run on each side (30 and 30 samples within them" in ran.stdout
    announced = [line for line in ran.stdout.splitlines() if line.startswith(("regressed:", "improved:"))]
    assert announced == []
