"""What has ended when a run is cut short is on disk, and the last message says what there is."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli.main import main

PROGRAM = """
import signal, sys, time
from argparse import ArgumentParser
from assay.benchmarks.weights import orchestrator
from assay.benchmarks.weights import program
from assay.benchmarks.weight_probes.machine import Machine
from assay.benchmarks.weights.suite import BenchmarkSuite
from assay.cli.weights import bench

class Short(BenchmarkSuite):
    def get_scenarios(self):
        return ["only"]
    def run_scenario(self, name, config):
        if self.name == "endless":
            time.sleep(600)
        return {"answer": 42}

suites = {name: Short(name) for name in ("first", "second", "endless")}
orchestrator.load_suites = lambda: suites
orchestrator.probe_machine = lambda store, scratch: Machine(cores=2)
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may have it ignored
parser = ArgumentParser()
program.arguments(parser)
bench.run(parser.parse_args())
"""


@pytest.mark.parametrize(("ending", "kept"), [("INT", 2), ("TERM", 2), ("KILL", 2), ("TERM", 0)])
def test_finished_suites_are_kept(tmp_path: Path, ending: str, kept: int) -> None:
    suites = "[first, second, endless]" if kept else "[endless, first, second]"
    (tmp_path / "p.yaml").write_text(f"suites: {suites}\niterations: 1\nmodels: [tiny]\ntimeout: 600\n")
    results = tmp_path / "out"
    words = ["--profile", str(tmp_path / "p.yaml"), "--output", str(results)]
    running = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        env={"PYTHONPATH": ":".join(entry for entry in sys.path if entry)},
    )  # fmt: skip
    assert running.stderr is not None
    for line in running.stderr:
        if "endless/only" in line:
            break
    running.send_signal(getattr(signal, f"SIG{ending}"))
    said = running.stderr.read()
    assert running.wait(60) != 0
    running.stderr.close()
    if ending != "KILL":
        assert (f"2 of 3 suites had ended (first, second): {results} has them" in said) == bool(kept)
        assert ("cut short before any of 3 suites had ended" in said) == (not kept)
    metrics = json.loads((results / "metrics.json").read_text())
    assert metrics["is_success"] is False
    assert {name: value for name, value in metrics.items() if name != "is_success"} == (
        {"first.only.answer": 42, "second.only.answer": 42} if kept else {}
    )
    assert (results / "report.html").exists() is (bool(kept) and ending != "KILL")
    if kept:
        assert json.loads((results / "params.json").read_text())["profile"]["suites"][0] == "first"
        assert "answer" in (results / "tables.txt").read_text()
        if ending != "KILL":
            assert "answer" in (results / "report.html").read_text()
        tasks = [json.loads(line)["stage"] for line in (results / "tasks.jsonl").read_text().splitlines()]
        assert tasks == ["first.only", "second.only"]


def test_a_suite_that_does_not_exist_is_not_called_cut_short(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--profile", "quick", "--suite", "compression", "--suite", "storage", "--output", str(tmp_path / "out")]
    assert main(["weights", "bench", *words]) == 2
    said = capsys.readouterr().err
    assert "unknown suite 'storage'" in said
    assert "cut short" not in said
