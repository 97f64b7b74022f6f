"""The samples of the older nightly framework's document, in one session as its users would run it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from workplace import Answer, Workplace

from assay.record import Record

SCRIPT = """\
#!/usr/bin/env python3
import argparse
import json
import os
import pickle
from pathlib import Path


def measure(args) -> dict:
    try:
        names = sorted(path.name for path in Path(args.input_path).iterdir())[: args.max_files]
        Path(args.output_path).mkdir(parents=True, exist_ok=True)
        Path(args.output_path, "kept.txt").write_text("\\n".join(names))
        success, metrics = True, {"time_taken": 0.25, "num_removed": len(names), "num_output_tasks": len(names)}
    except OSError:
        success, metrics = False, {}
    return {"params": vars(args), "metrics": {"is_success": success, **metrics}, "tasks": []}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--benchmark-results-path", required=True)
    parser.add_argument("--input-path", default="/nowhere")
    parser.add_argument("--ids-to-remove-path")
    parser.add_argument("--output-path", default="")
    parser.add_argument("--executor", default="xenna")
    parser.add_argument("--id-field", default="id")
    parser.add_argument("--files-per-partition", type=int)
    parser.add_argument("--max-files", type=int)
    args = parser.parse_args()
    results = measure(args)
    out = args.benchmark_results_path
    Path(out).mkdir(parents=True, exist_ok=True)
    with open(f"{out}/params.json", "w") as file:
        json.dump(results["params"], file, indent=2)
    with open(f"{out}/metrics.json", "w") as file:
        json.dump(results["metrics"], file, indent=2)
    with open(f"{out}/tasks.pkl", "wb") as file:
        pickle.dump(results["tasks"], file)
    return 0 if results["metrics"]["is_success"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
"""
SINK = """\
class CustomSink:
    def start_session(self, session_name: str): self.say("session", session_name)
    def start_run(self, run_name: str): self.say("run", run_name)
    def log_params(self, params: dict): self.say("params", sorted(params))
    def log_metrics(self, metrics: dict): self.say("metrics", "is_success" in metrics)
    def log_artifact(self, path: str): pass
    def end_run(self, success: bool): self.say("end", success)
    def end_session(self, success: bool): self.say("over", success)
    def say(self, *words):
        with open("heard.txt", "a") as out: print(*words, file=out)
"""
MATRIX = """\
default_timeout_s: 3600
results_dir: results
artifacts_dir: artifacts

# to be asked for
mlflow:
  tracking_uri: ${MLFLOW_TRACKING_URI}
  experiment: removal

slack:
  webhook_env: SLACK_WEBHOOK_URL

ray_config: &cluster
  num_cpus: 128
  num_gpus: 0

entries:
  - name: removal_one
    script: removal.py
    args: >-
      --input-path {dataset:cleaned,jsonl}
      --ids-to-remove-path /nowhere/duplicates
      --output-path {session}/scratch
      --executor xenna
      --id-field _id
      --files-per-partition 1
      --max-files 2
    timeout_s: 1800
  - name: removal_none
    script: removal.py
    args: --max-files 10
"""
CLUSTERS = """\
x-note: the same, with a cluster for each
ray_config: &cluster
  num_cpus: 128
  num_gpus: 0
results_dir: results

entries:
  - name: small
    script: removal.py
    ray: *cluster
    args: --max-files 10

  - name: large
    script: removal.py
    ray:
      num_cpus: 128
      num_gpus: 0
      enable_object_spilling: false
    args: --max-files 1000
"""


@dataclass(frozen=True)
class Ran:
    place: Workplace
    answer: Answer
    records: dict[str, Record]

    @property
    def entry(self) -> Path:
        return self.place.folder / "results/dedup/removal_one"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    place = Workplace(tmp_path_factory.mktemp("nightly"))
    place.environment["MLFLOW_TRACKING_URI"] = "http://127.0.0.1:9"
    place.environment.pop("SLACK_WEBHOOK_URL", None)
    place.write("nightly/scripts/removal.py", SCRIPT)
    place.write("nightly/sinks/custom_sink.py", SINK)
    place.write("nightly/matrix.yaml", MATRIX)
    place.write("nightly/clusters.yaml", CLUSTERS)
    for name in ("a", "b", "c"):
        place.write(f"cleaned/{name}.jsonl", "{}")
    # An old conda, of which the framework kept a list.
    conda = place.write("bin/conda", "#!/bin/sh\necho @EXPLICIT\n")
    conda.chmod(0o755)
    place.environment["PATH"] = f"{conda.parent}{os.pathsep}{place.environment['PATH']}"
    sets = {"cleaned": {"jsonl": f"{place.folder}/cleaned/", "parquet": "/nowhere/p/"}, "other": {"jsonl": "/nowhere"}}
    place.write("nightly/dataset_paths.json", json.dumps(sets))
    answer = place.assay("run", *files("matrix"), "--sink", "custom", "--session-name", "dedup")
    return Ran(place, answer, place.records())


def files(matrix: str) -> list[str]:
    return ["--matrix", f"nightly/{matrix}.yaml", "--datasets", "nightly/dataset_paths.json"]


def test_an_entry_that_fails_is_recorded_and_the_session_goes_on(ran: Ran) -> None:
    assert ran.answer.code == 1, ran.answer.err
    assert {name: record.success for name, record in ran.records.items()} == {
        "removal_one": True, "removal_none": False,
    }  # fmt: skip
    assert ran.records["removal_none"].returncode == 1


def test_the_lines_are_indented_as_they_were(ran: Ran) -> None:
    lines = ran.answer.out.splitlines()
    assert lines[0] == "Started session dedup..."
    assert "\tRunning removal_one" in lines
    shown = [line for line in lines if line.startswith("\t\t")]
    assert [line.rpartition(" in ")[0] for line in shown if "Run " in line and "command" not in line] == [
        "\t\t✅ Run Succeeded", "\t\t❌ Run Failed",
    ]  # fmt: skip
    assert f"\t\tLogs found in {ran.entry}/logs" in lines


def test_placeholders_are_filled_in(ran: Ran) -> None:
    params = ran.records["removal_one"].script_params
    assert params["input_path"] == f"{ran.place.folder}/cleaned/"
    assert params["output_path"] == f"{ran.entry}/scratch"
    assert ran.records["removal_one"].script_metrics["num_removed"] == 2


def test_the_folder_of_an_entry_has_what_it_had(ran: Ran) -> None:
    for name in (
        "logs/stdout.log", "logs/stderr.log", "artifacts/pip-freeze.txt", "artifacts/conda-explicit.txt",
        "results.jsonl", "benchmark_results/params.json", "benchmark_results/metrics.json",
        "benchmark_results/tasks.pkl",
    ):  # fmt: skip
        assert (ran.entry / name).is_file(), name
    assert not (ran.entry / "scratch").exists()
    assert not (ran.entry / "ray_cluster").exists()


def test_a_sink_without_a_constructor_hears_everything(ran: Ran) -> None:
    heard = (ran.place.folder / "heard.txt").read_text().splitlines()
    assert heard[:2] == ["session dedup", "run removal_one"]
    assert [line for line in heard if line.startswith(("end", "over"))] == ["end True", "end False", "over False"]


def test_without_a_sink_or_with_none_nobody_is_told_and_slack_acts_by_its_variable(ran: Ran) -> None:
    for more in ([], ["--sink", "none"]):
        assert "\nsinks: none\n" in ran.place.assay("plan", *files("matrix"), *more).out
    hook = {"SLACK_WEBHOOK_URL": "http://127.0.0.1:9/hook"}
    told = ran.place.assay("plan", *files("matrix"), "--sink", "mlflow", **hook)
    assert "\nsinks: mlflow, slack\n" in told.out, told.err


def test_clusters_by_an_anchor_are_planned(ran: Ran) -> None:
    answer = ran.place.assay("plan", *files("clusters"))
    assert answer.code == 0, answer.out + answer.err
    assert answer.out.count("with a Ray cluster: num_cpus=128, num_gpus=0") == 2
    assert "enable_object_spilling=False" in answer.out


def test_a_name_that_nobody_gave_has_the_time_in_it(ran: Ran) -> None:
    answer = ran.place.assay("run", *files("matrix"), "--entries", "removal_one")
    assert answer.code == 0, answer.out + answer.err
    assert ran.place.sessions()[-1].path.name.startswith("nightly-run")
