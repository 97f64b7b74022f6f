"""The samples of the ALM benchmark's document, in a repository laid out as theirs."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from workplace import Workplace

from assay.benchmarks.alm_pipeline_benchmark import parser

ROOT = Path(__file__).parents[2]
FIXTURE = "tests/fixtures/audio/alm/sample_input.jsonl"
NIGHTLY = """\
sinks:
  - name: slack
    enabled: {enabled}
    live_updates: true
    channel_id: ${{SLACK_CHANNEL_ID}}
    default_metrics: ["exec_time_s"]

entries:
  - name: alm_pipeline_xenna
    script: alm_pipeline_benchmark.py
    args: >-
      --benchmark-results-path={{session_entry_dir}}
      --input-manifest={{curator_repo_dir}}/tests/fixtures/audio/alm/sample_input.jsonl
      --executor={executor}
      --target-window-duration=120.0
      --tolerance=0.1
      --min-sample-rate=16000
      --min-bandwidth=8000
      --min-speakers=2
      --max-speakers=5
      --overlap-percentage=50
      --repeat-factor=20
    requirements:
      - metric: is_success
        exact_value: true
      - metric: total_builder_windows
        min_value: 1
      - metric: total_filtered_windows
        min_value: 1
"""
METRICS = {"is_success", "time_taken_s", "throughput_entries_per_sec", "throughput_windows_per_sec"}
DEFAULTS = {
    "repeat_factor": 1, "target_window_duration": 120.0, "tolerance": 0.1, "min_sample_rate": 16000,
    "min_bandwidth": 8000, "min_speakers": 2, "max_speakers": 5, "overlap_percentage": 50,
}  # fmt: skip


@pytest.fixture
def place() -> Iterator[Workplace]:
    """A repository in a folder with a short path: Ray's sockets have a limit to the length of theirs."""
    folder = Path(tempfile.mkdtemp(prefix="assay-alm-", dir="/tmp"))
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    manifest = folder / FIXTURE
    manifest.parent.mkdir(parents=True)
    shutil.copyfile(ROOT / FIXTURE, manifest)
    yield Workplace(folder)
    shutil.rmtree(folder)


def check(place: Workplace) -> None:
    """The three files in the folder that the entry names, with what the document says is in them."""
    record = place.records()["alm_pipeline_xenna"]
    assert record.success, record.reasons
    assert [requirement.ok for requirement in record.requirements] == [True, True, True]
    folder = place.sessions()[-1].path / "alm_pipeline_xenna"
    metrics = json.loads((folder / "metrics.json").read_text())
    assert metrics.keys() >= METRICS
    assert (metrics["num_input_entries"], metrics["num_output_entries"]) == (100, 100)
    assert metrics["total_filtered_windows"] == 160
    assert json.loads((folder / "params.json").read_text())["repeat_factor"] == 20
    assert pickle.loads((folder / "tasks.pkl").read_bytes())


def test_without_slack_the_entry_runs_and_meets_its_requirements(place: Workplace) -> None:
    place.write("benchmarking/nightly-benchmark.yaml", NIGHTLY.format(enabled="false", executor="local"))
    answer = place.assay("run", "--config", "benchmarking/nightly-benchmark.yaml")
    assert answer.code == 0, answer.out + answer.err
    check(place)


@pytest.mark.slow
def test_the_entry_runs_with_xenna_as_it_stands(place: Workplace) -> None:
    """It runs in a namespace of its own, since the program starts its own Ray, as it did there."""
    place.write("benchmarking/nightly-benchmark.yaml", NIGHTLY.format(enabled="false", executor="xenna"))
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    alone = ["unshare", *user, "-n", "-p", "-f", "--mount-proc", "--kill-child"]
    words = place.argv("run", "--config", "benchmarking/nightly-benchmark.yaml")
    done = subprocess.run(
        [*alone, "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *words],
        cwd=place.folder,
        env={**place.environment, "RAY_TMPDIR": str(place.folder), "RAY_USAGE_STATS_ENABLED": "0"},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    check(place)


def test_the_program_takes_its_arguments_from_the_file_though_slack_is_on(place: Workplace) -> None:
    place.write("benchmarking/nightly-benchmark.yaml", NIGHTLY.format(enabled="true", executor="local"))
    out = place.folder / "out"
    program = [*place.argv()[:-1], "assay.benchmarks.alm_pipeline_benchmark"]
    words = ["--config", "benchmarking/nightly-benchmark.yaml", "--benchmark-results-path", str(out)]
    done = subprocess.run([*program, *words], cwd=place.folder, env=place.environment, check=False)
    assert done.returncode == 0
    assert json.loads((out / "metrics.json").read_text())["num_input_entries"] == 100


def test_every_argument_of_the_table_has_its_default() -> None:
    """All but the executor's: without Ray there is nothing to run Xenna on."""
    required = ["--benchmark-results-path", "x", "--input-manifest", "y"]
    given = vars(parser().parse_args(required))
    assert {name: given[name] for name in DEFAULTS} == DEFAULTS
    for executor in ("xenna", "ray_data", "ray_actors"):
        assert parser().parse_args([*required, "--executor", executor]).executor == executor
