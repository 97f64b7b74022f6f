"""`assay weights bench` as people type it, and a suite as the script of an entry."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from assay.benchmarks.weights.profile import BUNDLED
from assay.cli.main import main
from assay.config.entry import Script


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--profile", "qick"],
            "unknown profile 'qick'; did you mean 'quick'? (known: quick, standard, full, comprehensive); nor",
        ),
        (["--profile", "quick", "--suite", "acuracy"], "did you mean 'accuracy'?"),
        (["--profile", "quick", "--store", "balancd"], "unknown store 'balancd'; did you mean 'assay-balanced'?"),
        (["--profile", "quick", "--output", "/proc/nowhere"], "/proc/nowhere: cannot be made"),
        (["--checkpoints", "a.safetensors"], "a.safetensors does not exist; give a .safetensors or PyTorch file"),
        (["--checkpoints", "/dev/null", "--suite", "memory"], "--checkpoints is a scenario of the compression suite"),
        (["--profile", "quick", "--stores", "mine:Store"], "store mine:Store: nothing is at that path"),
    ],
)
def test_what_cannot_be_is_one_message(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["weights", "bench", *words]) == 2
    said = capsys.readouterr().err.strip()
    assert said.startswith("assay: ")
    assert message in said
    assert "Traceback" not in said


def test_a_bad_variable_is_one_message(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CORAL_BENCHMARK_WORKERS", "all")
    assert main(["weights", "bench", "--profile", "quick"]) == 2
    assert "CORAL_BENCHMARK_WORKERS=all: give a whole number" in capsys.readouterr().err


def test_help_lists_every_flag(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["weights", "bench", "--help"])
    shown = capsys.readouterr().out
    flags = (
        "--profile --suite --checkpoints --store --stores --peers --output --strict --verbose --no-visualize --legacy"
    )
    assert all(flag in shown for flag in flags.split())
    assert "default: standard" in shown


@pytest.mark.parametrize("suite", list(BUNDLED))
def test_a_suite_is_a_script_that_an_entry_can_name(suite: str, tmp_path: Path) -> None:
    script = Script.find(f"weights/{suite}.py", None, tmp_path)
    assert script.argv(None) == [sys.executable, "-m", f"assay.benchmarks.weights.{suite}"]


def test_probes_do_not_import_what_the_suites_need() -> None:
    """A fresh process is measured: what it imports beyond need is memory and time of its own."""
    code = "import sys, assay.benchmarks.weight_probes.memory; print([m for m in sys.modules if m in HEAVY])"
    heavy = "HEAVY = {'pydantic', 'sklearn', 'scipy', 'torch'}; "
    path = ":".join(entry for entry in sys.path if entry)
    done = subprocess.run(
        [sys.executable, "-c", heavy + code], check=False, capture_output=True, text=True, env={"PYTHONPATH": path}
    )
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.slow
def test_a_run_that_is_ended_leaves_no_scratch_and_says_so(tmp_path: Path) -> None:
    scratch, results = tmp_path / "scratch", tmp_path / "results"
    words = ["--profile", "standard", "--benchmark-results-path", str(results)]
    environment = {
        "PYTHONPATH": ":".join(entry for entry in sys.path if entry),
        "ASSAY_BENCHMARK_TEMP_DIR": str(scratch),
    }
    running = subprocess.Popen(
        [sys.executable, "-m", "assay.benchmarks.weights.compression", *words], env=environment, stderr=subprocess.PIPE
    )
    assert running.stderr is not None
    assert b"compression/similar" in running.stderr.readline()
    running.terminate()
    assert running.wait(60) == 143
    running.stderr.close()
    assert list(scratch.iterdir()) == []
    assert json.loads((results / "metrics.json").read_text()) == {"is_success": False}
