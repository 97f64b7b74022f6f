"""`--matrix F --datasets F`, as the older framework has it."""

from __future__ import annotations

import json

import yaml
from workplace import Workplace

SCRIPT = """
import json, pathlib, sys
out = pathlib.Path(sys.argv[sys.argv.index("--benchmark-results-path") + 1])
(out / "params.json").write_text(json.dumps({"argv": sys.argv[1:]}))
(out / "metrics.json").write_text('{"is_success": true}')
"""
MATRIX = """\
# nightly matrix
default_timeout_s: 3600
results_dir: results

mlflow:
  tracking_uri: ${MLFLOW_TRACKING_URI_THAT_IS_NOT_SET}
  experiment: removal

slack:
  webhook_env: A_WEBHOOK_VARIABLE

ray_config: &default_env
  A: "1"

entries:
  # the small one
  - name: small
    script: removal.py
    env: *default_env
    args: >-
      --input-path {dataset:cleaned_cc,jsonl}
      --output-path {session}/scratch
    timeout_s: 1800
"""


def prepared(place: Workplace) -> list[str]:
    place.write("scripts/removal.py", SCRIPT)
    place.write("matrix.yaml", MATRIX)
    (place.folder / "cc").mkdir(exist_ok=True)
    place.write("datasets.json", json.dumps({"cleaned_cc": {"jsonl": str(place.folder / "cc"), "parquet": "/p"}}))
    return ["run", "--matrix", "matrix.yaml", "--datasets", "datasets.json"]


def test_the_older_form_runs_as_it_stands(workplace: Workplace) -> None:
    answer = workplace.assay(*prepared(workplace), "--session-name", "removal")
    assert answer.code == 0, answer.err
    session = workplace.folder / "results/removal"
    argv = workplace.records()["small"].script_params["argv"]
    assert argv[:4] == ["--input-path", str(workplace.folder / "cc"), "--output-path", f"{session}/small/scratch"]
    lines = answer.out.splitlines()
    assert lines[0] == "Started session removal..."
    assert lines[1] == "\tRunning small"
    assert lines[2].startswith("\t\tRunning command ")
    assert lines[3].startswith("\t\t✅ Run Succeeded in ")
    assert lines[4] == f"\t\tLogs found in {session}/small/logs"


def test_a_name_is_used_as_it_is_and_refused_if_it_exists(workplace: Workplace) -> None:
    words = prepared(workplace)
    workplace.assay(*words, "--session-name", "removal")
    answer = workplace.assay(*words, "--session-name", "removal")
    assert answer.code == 2
    assert "exists already" in answer.err


def test_mlflow_is_looked_at_only_when_asked_for(workplace: Workplace) -> None:
    answer = workplace.assay(*prepared(workplace), "--sink", "mlflow")
    assert answer.code == 2
    assert "matrix.yaml:6:17: sinks[0].tracking_uri: the environment variable MLFLOW_TRACKING_URI" in answer.err


def test_slack_acts_when_its_variable_is_set(workplace: Workplace) -> None:
    words = ["plan", *prepared(workplace)[1:]]
    assert "sinks: none" in workplace.assay(*words).out
    set_ = workplace.assay(*words, A_WEBHOOK_VARIABLE="http://127.0.0.1:9/hook")
    assert "sinks: slack" in set_.out, set_.err


def test_a_migrated_file_says_the_same_and_keeps_its_comments(workplace: Workplace) -> None:
    prepared(workplace)
    answer = workplace.assay("migrate", "matrix.yaml", "--datasets", "datasets.json", "--output", "new.yaml")
    assert answer.code == 0, answer.err
    text = (workplace.folder / "new.yaml").read_text()
    assert "# the small one" in text
    written = yaml.safe_load(text)
    assert "mlflow" not in written
    assert [sink["name"] for sink in written["sinks"]] == ["mlflow", "slack"]
    assert written["sinks"][1]["webhook_url"] == "${A_WEBHOOK_VARIABLE}"
    answer = workplace.assay("run", "--config", "new.yaml")
    assert answer.code == 0, answer.err
    assert workplace.records()["small"].success


def test_a_broken_file_of_data_sets_is_named_with_its_line(workplace: Workplace) -> None:
    words = prepared(workplace)
    workplace.write("datasets.json", '{"a": {\n  "b": }\n}')
    answer = workplace.assay(*words)
    assert answer.code == 2
    assert "datasets.json:2:8: Expecting value" in answer.err
