"""The samples of the benchmarking framework's document, in one session as its users would run it."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from workplace import Answer, Workplace

from assay.record import Record

SCRIPT = """\
#!/usr/bin/env python3
import argparse
import json
import pickle
from pathlib import Path

from nemo_curator.tasks import Task
from nemo_curator.tasks.utils import TaskPerfUtils


def measure(args):
    with Task("reading", TaskPerfUtils()):
        text = Path(args.input).read_text() if args.input else ""
    with Task("counting", TaskPerfUtils()):
        words = len(text.split()) * args.iterations
    out = args.benchmark_results_path
    with open(out / "params.json", "w") as file:
        json.dump({"input_path": str(args.input), "algorithm": args.algorithm, "iterations": args.iterations}, file)
    with open(out / "metrics.json", "w") as file:
        json.dump({"words": words, "peak_memory_gb": 0.5}, file, indent=2)
    with open(out / "tasks.pkl", "wb") as file:
        pickle.dump(Task.get_all_tasks(), file)
    if args.output:
        args.output.mkdir(parents=True)
        (args.output / "words.txt").write_text(text)


def main():
    parser = argparse.ArgumentParser(description="words of a file")
    parser.add_argument("--benchmark-results-path", type=Path, required=True)
    parser.add_argument("--input", type=str)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--algorithm", type=str, default="v0")
    parser.add_argument("--iterations", type=int, default=100)
    measure(parser.parse_args())


if __name__ == "__main__":
    main()
"""
SINK = """\
import json
from typing import Any
from loguru import logger
from runner.sinks.sink import Sink


class MyCustomSink(Sink):
    def __init__(self, config: dict[str, Any]):
        super().__init__(config)
        self.enabled = config.get("enabled", True)
        self.api_endpoint = config.get("api_endpoint")

    def initialize(self, session_name: str, env_data: dict[str, Any]) -> None:
        logger.info(f"begins {session_name} on {sorted(env_data)[0]}")

    def process_result(self, result: dict[str, Any]) -> None:
        if self.enabled:
            with open(self.api_endpoint, "a") as out:
                out.write(json.dumps(result) + "\\n")

    def finalize(self) -> None:
        logger.info("ends")
"""
CONFIG = """\
# Required
results_dir: "/nowhere/results"
artifacts_dir: "/nowhere/artifacts"   # large things
default_timeout_s: 7200
delete_scratch: true

sinks:
  - name: mlflow
    tracking_uri: ${MLFLOW_TRACKING_URI}
    experiment: words
    enabled: true
  - name: slack
    webhook_url: ${SLACK_WEBHOOK_URL}
    enabled: true
  - name: gdrive
    enabled: false
  - name: my_custom
    api_endpoint: ${HOME}/told.jsonl
    enabled: true

datasets:
  - name: novels
    formats:
      - type: json
        path: /nowhere/novels.jsonl
      - type: parquet
        path: ${HOME}/novels.parquet

entries:
  - name: whole
    script: my_script.py
    args: >-
      --input {dataset:novels,parquet}
      --output {session_entry_dir}/output
    timeout_s: 1800
    ray:
      num_cpus: 32
      num_gpus: 1
    delete_scratch: false
  - name: elsewhere
    script: other.py
    script_base_dir: /custom/path
  - name: v1
    script: my_script.py
    args: --input {dataset:novels,parquet} --algorithm v1

  - name: v2
    script: my_script.py
    args: --input {dataset:novels,parquet} --algorithm v2
  - name: quick_test
    script: test_benchmark.py
    args: --iterations 5
    timeout_s: 300
  - name: archives
    script: common_crawl_benchmark.py
    args: >-
      --download_path {session_entry_dir}/scratch/downloads
      --output_path {session_entry_dir}/scratch/output
      --output_format parquet
      --url_limit 10000
    timeout_s: 14400
    ray:
      num_cpus: 128
      num_gpus: 8
"""
PATHS = """\
results_dir: "${HOME}/results"
artifacts_dir: "${HOME}/artifacts"
entries:
  - name: elsewhere
    script_base_dir: ${HOME}/more
"""
THIS_MACHINE = """\
# No cluster here, and nobody to tell.
sinks:
  - {name: mlflow, enabled: false}
  - {name: slack, enabled: false}
entries:
  - {name: whole, ray: null}
  - {name: archives, enabled: false}
"""
FIELDS = (
    "name", "success", "exec_time_s", "timeout", "script_params", "script_metrics", "tasks", "command", "returncode",
    "stdouterr_file",
)  # fmt: skip
SERVICES = {"MLFLOW_TRACKING_URI": "http://127.0.0.1:9", "SLACK_WEBHOOK_URL": "http://127.0.0.1:9/hook"}
FILES = ("--config", "benchmarking/config.yaml", "--config", "benchmarking/paths.yaml")


@dataclass(frozen=True)
class Ran:
    place: Workplace
    answer: Answer
    records: dict[str, Record]

    @property
    def folder(self) -> Path:
        return self.place.sessions()[-1].path


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    place = Workplace(tmp_path_factory.mktemp("framework"))
    place.environment["HOME"] = str(place.folder)
    place.write("benchmarking/config.yaml", CONFIG)
    place.write("benchmarking/paths.yaml", PATHS)
    place.write("benchmarking/machine_specific.yaml", THIS_MACHINE)
    place.write("benchmarking/scripts/my_script.py", SCRIPT)
    place.write("benchmarking/runner/sinks/my_custom_sink.py", SINK)
    place.write("more/other.py", SCRIPT)
    place.write("novels.parquet", "it was the best of times")
    third = ("--config", "benchmarking/machine_specific.yaml")
    answer = place.assay("run", *FILES, *third, "--session-name", "my-experiment-v2")
    return Ran(place, answer, place.records())


def test_three_files_run_together_and_later_ones_win(ran: Ran) -> None:
    assert ran.answer.code == 0, ran.answer.out + ran.answer.err
    assert {name: record.success for name, record in ran.records.items()} == dict.fromkeys(
        ("whole", "elsewhere", "v1", "v2", "quick_test"), True
    )
    assert re.fullmatch(r"my-experiment-v2__\d{4}-\d\d-\d\d__\d\d-\d\d-\d\d", ran.folder.name)


def test_data_sets_the_entrys_folder_and_variables_are_put_in(ran: Ran) -> None:
    assert ran.records["v2"].script_params == {
        "input_path": f"{ran.place.folder}/novels.parquet", "algorithm": "v2", "iterations": 100,
    }  # fmt: skip
    assert ran.records["v1"].script_metrics["words"] == 600
    assert (ran.folder / "whole/output/words.txt").read_text() == "it was the best of times"


def test_a_script_is_found_in_scripts_in_a_folder_of_its_own_and_among_the_bundled(ran: Ran) -> None:
    assert f"{ran.place.folder}/benchmarking/scripts/my_script.py" in ran.records["v1"].command
    assert f"{ran.place.folder}/more/other.py" in ran.records["elsewhere"].command
    assert ran.records["quick_test"].script_metrics["num_iterations"] == 5


def test_timed_blocks_of_the_script_are_read_from_its_pickle(ran: Ran) -> None:
    assert [task.stage for task in ran.records["v1"].tasks] == ["reading", "counting"]


def test_a_sink_is_told_every_field_that_the_document_lists(ran: Ran) -> None:
    told = [json.loads(line) for line in (ran.place.folder / "told.jsonl").read_text().splitlines()]
    assert [result["name"] for result in told] == ["whole", "elsewhere", "v1", "v2", "quick_test"]
    assert [field for result in told for field in FIELDS if field not in result] == []
    assert (told[2]["success"], told[2]["timeout"], told[2]["returncode"]) == (True, False, 0)
    assert Path(told[2]["stdouterr_file"]).is_file()


def test_the_log_is_where_it_is_looked_for_and_scratch_is_gone_unless_it_is_to_stay(ran: Ran) -> None:
    assert (ran.folder / "v1/stdouterr.log").is_file()
    assert not (ran.folder / "v1/scratch").exists()
    assert (ran.folder / "whole/scratch").exists()


def test_what_needs_another_machine_is_planned_as_it_stands(ran: Ran) -> None:
    answer = ran.place.assay("plan", *FILES, **SERVICES)
    assert answer.code == 0, answer.out + answer.err
    assert "with a Ray cluster: num_cpus=32, num_gpus=1" in answer.out
    assert "with a Ray cluster: num_cpus=128, num_gpus=8" in answer.out
    assert "--output_format parquet --url_limit 10000" in answer.out
    assert "sinks: mlflow, slack, my_custom" in answer.out


def test_services_that_are_down_keep_nothing_from_running(ran: Ran) -> None:
    words = ["--entries", "quick_test", "--session-name", "nightly-run"]
    answer = ran.place.assay("run", *FILES, *words, **SERVICES)
    assert answer.code == 0, answer.out + answer.err
    for sink in ("slack", "mlflow"):
        assert re.search(rf"^Sink {sink}: \d+ delivered, [1-9]\d* pending \(.*refused", answer.out, re.MULTILINE), sink


def test_a_script_is_run_by_itself_as_when_it_is_debugged(ran: Ran) -> None:
    out = ran.place.folder / "alone"
    out.mkdir()
    words = ["--benchmark-results-path", str(out), "--input", "novels.parquet", "--iterations", "10"]
    answer = ran.place.assay("run", "--runs", "1", "--", sys.executable, "benchmarking/scripts/my_script.py", *words)
    assert answer.code == 0, answer.out + answer.err
    assert json.loads((out / "metrics.json").read_text())["words"] == 60
    assert json.loads((out / "params.json").read_text())["iterations"] == 10
