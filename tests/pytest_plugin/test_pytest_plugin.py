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
    assert "test_sum[1000]" in first.stdout.split("= assay =")[1]
    assert "test_wrong (failed)" in first.stdout
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
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=800, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("report: ") == 13
    assert "one run on each side; needs 3 more on each: 60 samples within them" in ran.stdout
    announced = [line for line in ran.stdout.splitlines() if line.startswith(("regressed:", "improved:"))]
    assert announced == []


CHOSEN = """
import pytest

@pytest.mark.assay(group="lengths", rounds=3)
@pytest.mark.parametrize("n", [1, 2])
def test_len(assay_benchmark, n):
    assert assay_benchmark(len, "x" * n) == n

def test_other(assay_benchmark):
    calls = []
    assay_benchmark(calls.append, 1)
    print("called", len(calls))

async def answer():
    return 42

def test_async(assay_benchmark):
    assert assay_benchmark(answer) == 42

def test_plain():
    pass
"""


def test_benchmarks_are_chosen_left_out_or_called_once(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(CHOSEN)
    assert "4 passed, 1 deselected" in run_pytest(tmp_path, "--assay-only", "--assay-disable").stdout
    assert "1 passed, 4 deselected" in run_pytest(tmp_path, "--assay-skip").stdout
    once = run_pytest(tmp_path, "--assay-disable", "-rP", "-k", "other")
    assert "called 1\n" in once.stdout
    assert not (tmp_path / "results").exists()


def test_groups_columns_and_the_markers_rounds(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(CHOSEN)
    ran = run_pytest(
        tmp_path, "--strict-markers", "--assay-rounds=2", "--assay-columns=median,rounds", "--assay-sort=name"
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    lines = ran.stdout.split("= assay =")[1].splitlines()
    shown = [(words[0], words[-1]) if (words := line.split()) else () for line in lines[1:9]]
    assert shown == [
        ("lengths", "lengths"),
        ("test", "rounds"),
        ("test_len[1]", "3"),
        ("test_len[2]", "3"),
        (),
        ("test", "rounds"),
        ("test_async", "2"),
        ("test_other", "2"),
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--assay-rounds", "0"], "'0' is no whole number of at least 1"),
        (["--assay-only", "--assay-skip"], "--assay-only and --assay-skip leave no test"),
        (["--assay-join", "../x"], "--assay-join '../x'"),
    ],
)
def test_an_option_that_cannot_be_is_one_message(tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "test_it.py").write_text("def test_it():\n    pass\n")
    ran = run_pytest(tmp_path, *arguments)
    assert ran.returncode == 4, ran.stdout + ran.stderr
    assert said in ran.stderr
    assert "Traceback" not in ran.stdout + ran.stderr


def test_a_marker_that_cannot_be_fails_its_test_with_one_message(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest\n@pytest.mark.assay(grop='a')\ndef test_it(assay_benchmark):\n    pass\n"
    )
    ran = run_pytest(tmp_path)
    assert "pytest.mark.assay: unknown name 'grop'; did you mean 'group'?" in ran.stdout
    assert ran.returncode == 1


def test_results_that_cannot_be_kept_are_no_success(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(assay_benchmark):\n    assay_benchmark(len, '')\n")
    (tmp_path / "results").write_text("a file")
    ran = run_pytest(tmp_path)
    assert "1 passed" in ran.stdout
    assert "the results are not kept: " in ran.stdout
    assert ran.returncode == 1
    assert "Traceback" not in ran.stdout + ran.stderr


def test_what_an_interrupt_left_is_kept_and_says_so(tmp_path: Path) -> None:
    first = "def test_first(assay_benchmark):\n    assay_benchmark(len, '')\n"
    (tmp_path / "test_it.py").write_text(f"{first}\ndef test_second():\n    raise KeyboardInterrupt\n")
    ran = run_pytest(tmp_path)
    assert ran.returncode == 2
    assert "test_first" in ran.stdout.split("= assay =")[1]
    [folder] = session_folders(tmp_path / "results")
    assert folder.info().status == "interrupted"
    assert [record.name for record in folder.records()] == ["test_it.py::test_first"]


@pytest.mark.slow
def test_with_xdist_nothing_is_measured_unless_somebody_insists(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(CHOSEN)
    beside = run_pytest(tmp_path, "-n2")
    assert "4 benchmarks were called once and not measured: pytest-xdist runs tests side by side" in beside.stdout
    assert not (tmp_path / "results").exists()
    insisted = run_pytest(tmp_path, "-n2", "--assay-enable", "--assay-rounds=2")
    assert "lengths\n" in insisted.stdout
    [folder] = session_folders(tmp_path / "results")
    assert len(folder.records()) == 4


GATED = """
import os

def test_counted(assay_benchmark):
    assay_benchmark.metric("bytes", int(os.environ["BYTES"]), unit="B", better="lower", exact=True)

def test_timed(assay_benchmark):
    level = float(os.environ["LEVEL"])
    samples = [level * (1 + step / 1000) for step in range(30)]
    assay_benchmark.metric("time_s", level, unit="s", better="lower", samples=samples)
"""

GATES = """
import os, sys
import pytest

def run(level, size=100, *more):
    os.environ["LEVEL"], os.environ["BYTES"] = str(level), str(size)
    arguments = ["-q", "-p", "no:cacheprovider", *sys.argv[1:], "test_it.py", "--assay-gate", *more]
    return int(pytest.main(arguments))

NOISE = (0.0, 0.012, -0.008, 0.003, -0.011, 0.006, 0.009, -0.004, 0.001, -0.006)
exec(sys.stdin.read())
"""


def run_gates(folder: Path, steps: str) -> str:
    (folder / "test_it.py").write_text(GATED)
    (folder / "gates.py").write_text(GATES)
    installed = "assay" in entry_points(group="pytest11").names
    environment = {**os.environ, "PYTHONPATH": str(Path(assay.__file__).parents[1])}
    command = [sys.executable, "gates.py", *([] if installed else ["-p", "assay.pytest_plugin"])]
    ran = subprocess.run(
        command, cwd=folder, env=environment, input=steps, capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.slow
def test_the_gate_fails_what_is_twice_as_slow_until_it_is_repaired(tmp_path: Path) -> None:
    """After six sessions each one at twice the time is red, not only the first."""
    said = run_gates(
        tmp_path,
        """
same = [run(1.0 + by) for by in NOISE[:6]]
slow = [run(2.0 + by) for by in NOISE[:6]]
print("CODES", same, slow, run(1.003))
""",
    )
    assert f"CODES {[0] * 6} {[1] * 6} 0\n" in said, said
    assert "gate: nothing to compare with yet for 2 tests (not a failure)" in said
    assert "test_timed: time_s needs 2 sessions more as a baseline" in said
    assert "gate: 1 test regressed\n  test_it.py::test_timed: time_s 2 s is 100% above the baseline of 1 s" in said
    newest, slow, *_ = session_folders(tmp_path / "results")
    assert [str(record.outcome) for record in newest.records()] == ["passed", "passed"]
    [timed] = [record for record in slow.records() if record.name.endswith("test_timed")]
    assert timed.outcome is Outcome.MISSED
    assert "above the baseline of 1 s (limit 5%, noise ±" in timed.reasons[0]


@pytest.mark.slow
def test_ten_percent_is_found_with_ten_sessions_and_three_percent_passes(tmp_path: Path) -> None:
    said = run_gates(
        tmp_path,
        """
same = [run(1.0 + by) for by in NOISE]
print("CODES", same, run(1.1), run(1.03), run(1.1, 100, "--assay-gate=20"))
""",
    )
    assert f"CODES {[0] * 10} 1 0 0\n" in said, said


@pytest.mark.slow
def test_one_more_byte_is_red_from_one_session(tmp_path: Path) -> None:
    said = run_gates(tmp_path, 'print("CODES", run(1.0), run(1.0, 101), run(1.0, 99))')
    assert "CODES 0 1 0\n" in said, said
    assert "test_it.py::test_counted: bytes" in said


@pytest.mark.slow
def test_the_runs_of_a_session_are_judged_together(tmp_path: Path) -> None:
    """One run tells nothing; six runs a side do."""
    said = run_gates(
        tmp_path,
        """
fast = [run(1.0 + each / 500, 100, "--assay-join", "six-fast") for each in range(6)]
slow = [run(1.5 + each / 500, 100, "--assay-join", "six-slow") for each in range(6)]
print("CODES", fast[-1], slow[0], slow[-1])
""",
    )
    assert "CODES 0 0 1\n" in said, said
    joined = next(folder for folder in session_folders(tmp_path / "results") if folder.path.name == "six-slow")
    timed = [record for record in joined.records() if record.name.endswith("test_timed")]
    assert [record.run_id for record in timed] == [
        f"six-slow/test_it.py::test_timed/run-{run:02d}" for run in range(1, 7)
    ]
    assert {record.outcome for record in timed} == {Outcome.MISSED}


@pytest.mark.slow
def test_a_noisy_baseline_is_no_failure_and_says_what_to_do(tmp_path: Path) -> None:
    said = run_gates(tmp_path, 'print("CODES", [run(level) for level in (0.7, 1.4, 1.1, 0.8, 1.5)])')
    assert "CODES [0, 0, 0, 0, 0]\n" in said, said
    assert "gate: cannot tell for 1 test (not a failure)" in said
    assert "too noisy for this limit: set a higher one, or give the test more time with --assay-max-time" in said


OLD_STYLE = """
import pytest

@pytest.mark.benchmark(group="sums", max_time=0.05, min_rounds=7)
def test_sum(benchmark):
    benchmark.extra_info["items"] = 100
    assert benchmark(sum, range(100)) == 4950
    assert not benchmark.disabled

def test_once(benchmark):
    calls = []
    benchmark.pedantic(calls.append, args=(1,))
    assert calls == [1]
"""


@pytest.mark.slow
def test_tests_of_pytest_benchmark_run_and_are_recorded_without_it(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(OLD_STYLE)
    ran = run_pytest(tmp_path, "--strict-markers", "-p", "no:benchmark")
    assert "2 passed" in ran.stdout, ran.stdout + ran.stderr
    assert "sums\n" in ran.stdout
    [folder] = session_folders(tmp_path / "results")
    by_name = {record.name.partition("::")[2]: record.metrics for record in folder.records()}
    assert by_name["test_sum"]["items"].value == 100
    assert len(by_name["test_sum"]["time_s"].samples) >= 7
    assert len(by_name["test_once"]["time_s"].samples) == 1


OTHER_PLUGIN = """
from types import SimpleNamespace
import pytest

@pytest.fixture
def benchmark(request):
    rounds = SimpleNamespace(data=[0.002 + step / 1e6 for step in range(1001)])
    yield SimpleNamespace(stats=SimpleNamespace(stats=rounds, iterations=2), extra_info={"items": 3}, group=None)
"""


@pytest.mark.slow
def test_what_pytest_benchmark_measured_is_recorded_as_it_was_measured(tmp_path: Path) -> None:
    """That plug-in keeps its fixture. A round has 2 iterations, and `data` the seconds of both together."""
    (tmp_path / "other.py").write_text(OTHER_PLUGIN)
    (tmp_path / "test_it.py").write_text("def test_it(benchmark):\n    assert benchmark.stats\n")
    ran = run_pytest(tmp_path, "-p", "other")
    assert "1 passed" in ran.stdout, ran.stdout + ran.stderr
    [folder] = session_folders(tmp_path / "results")
    [record] = folder.records()
    assert record.metrics["time_s"].value == pytest.approx(0.00105)
    assert record.metrics["time_s"].better == "lower"
    assert len(record.metrics["time_s"].samples) <= 250
    assert record.metrics["items"].value == 3
