"""A migrated file does what the file did before, whatever is set, and its comments are where they were."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from workplace import Workplace

from assay.config.load_config import load_config, load_older
from assay.config.migrate import MigratedConfig, migrate
from assay.config.older_form import OlderForm
from assay.config.plan import Plan, make_plan
from assay.errors import ConfigError

ADJACENT = """\
# nightly matrix
default_timeout_s: 3600

# MLflow configuration
mlflow:   # the team's server
  # where it is
  tracking_uri: ${MLFLOW_URI}   # from CI
  experiment: removal

# about nothing in particular

# Optional Slack notifications
slack:
  webhook_env: HOOK  # in the vault
  # who
  ping_on_failure: [U1]

# what is run
entries:
  # the small one
  - {name: small, script: s.py, args: "--in {dataset:cc,jsonl}"}
# the end
"""
APART = """\
# of mlflow
mlflow:
  tracking_uri: ${MLFLOW_URI}

default_timeout_s: 3600  # an hour

# of entries
entries:
  - {name: a, script: s.py}   # first

# of slack
slack: {webhook_env: HOOK}

# of wandb
wandb:
    project: p
"""
WITH_SINKS = """\
slack:
  webhook_env: HOOK
# ours
sinks:
- name: junit  # for the CI
  path: out.xml
# of mlflow
mlflow:
  experiment: e
entries: [{name: a, script: s.py}]
"""
IN_ONE_LINE = """\
# ours
sinks: [{name: junit}]
slack: {webhook_env: HOOK, enabled: true}
entries: [{name: a, script: s.py}]
"""
EMPTY_LIST = "sinks: []  # none yet\nslack:\n  webhook_env: HOOK\nentries: [{name: a, script: s.py}]"
TWICE = """\
sinks:
  - {name: mlflow, experiment: mine}
# the old one
mlflow:
  experiment: theirs
entries: [{name: a, script: s.py}]
"""
ANCHORED = """\
slack: &hook
  webhook_env: HOOK
x-note: *hook
entries: [{name: a, script: s.py}]
"""
WITHOUT = "# plain\nentries: [{name: a, script: s.py, args: '--x ${X:-1}'}]\n"
MATRICES = [ADJACENT, APART, WITH_SINKS, IN_ONE_LINE, EMPTY_LIST, TWICE, ANCHORED, WITHOUT]


def files(folder: Path, text: str) -> tuple[Path, Path]:
    matrix, datasets = folder / "matrix.yaml", folder / "datasets.json"
    matrix.write_text(text)
    datasets.write_text(json.dumps({"cc": {"jsonl": "/data/cc"}}))
    (folder / "s.py").touch()
    return matrix, datasets


def new_file(folder: Path, new: MigratedConfig) -> Path:
    (folder / "new.yaml").write_text(new.text)
    return folder / "new.yaml"


def essence(plan: Plan) -> tuple[Any, ...]:
    sinks = [{key: value for key, value in sink.items() if key != "enabled"} for sink in plan.sinks]
    entries = tuple(replace(entry, where="") for entry in plan.entries)
    return entries, plan.results_dir, plan.artifacts_dir, sorted(sinks, key=str)


@pytest.mark.parametrize("text", MATRICES)
@pytest.mark.parametrize("variables", [{}, {"HOOK": "http://127.0.0.1:9/x"}, {"HOOK": ""}])
@pytest.mark.parametrize("sink", ["none", "mlflow", "wandb"])
def test_a_matrix_does_what_it_did(tmp_path: Path, text: str, variables: Mapping[str, str], sink: str) -> None:
    matrix, datasets = files(tmp_path, text)
    environment = {**variables, **({"MLFLOW_URI": "http://127.0.0.1:9"} if sink == "mlflow" else {})}
    older = make_plan(load_older(OlderForm(matrix, datasets, sink), environment), environment)
    if sink == "mlflow" and text == TWICE:
        older = replace(older, sinks=older.sinks[:1])  # two of one name: what `sinks:` says stays
    new = new_file(tmp_path, migrate(matrix, datasets, sink))
    assert essence(make_plan(load_config([new], environment), environment)) == essence(older)


OWN = """\
# where it listens
mine:
  endpoint: there  # or here
entries: [{name: a, script: s.py}]
"""


@pytest.mark.parametrize("text", [OWN, WITHOUT])
@pytest.mark.parametrize("sink", ["mine", "runner.sinks.mine_sink", "runner.sinks.mine_sink:Mine", "sinks.mine.Mine"])
def test_a_sink_of_ones_own_by_its_name_or_path_has_its_block(tmp_path: Path, text: str, sink: str) -> None:
    matrix, datasets = files(tmp_path, text)
    older = make_plan(load_older(OlderForm(matrix, datasets, sink, lambda name: name == "mine"), {}), {})
    new = migrate(matrix, datasets, sink, lambda name: name == "mine")
    assert essence(make_plan(load_config([new_file(tmp_path, new)], {}), {})) == essence(older)
    assert all(line.strip() in new.text for line in text.splitlines() if "#" in line)


def test_a_file_of_another_kind_is_not_taken_for_a_configuration(tmp_path: Path) -> None:
    _, datasets = files(tmp_path, OWN)
    with pytest.raises(ConfigError, match="has no key of a matrix or a session"):
        migrate(datasets, None)


@pytest.mark.parametrize("text", [ADJACENT, WITHOUT])
def test_comments_stay_where_they_were(tmp_path: Path, text: str) -> None:
    matrix, _ = files(tmp_path, text)
    new = migrate(matrix, None).text
    own = ("# as before",)
    kept = [line[line.index("#") :] for line in new.splitlines() if "#" in line and not any(o in line for o in own)]
    assert kept == [line[line.index("#") :] for line in text.splitlines() if "#" in line]
    assert migrate(matrix, None).notes == ()


def test_a_matrix_is_changed_only_where_it_must_be(tmp_path: Path) -> None:
    matrix, _ = files(tmp_path, ADJACENT)
    assert (
        migrate(matrix, None).text
        == """\
# nightly matrix
default_timeout_s: 3600

sinks:
  # MLflow configuration
  - name: mlflow  # the team's server
    enabled: false  # as before: only when asked for, now with --set sinks.mlflow.enabled=true
    # where it is
    tracking_uri: ${MLFLOW_URI}   # from CI
    experiment: removal

# about nothing in particular

  # Optional Slack notifications
  - name: slack
    enabled: "${HOOK:+true}"  # as before: once the variable is set
    webhook_url: ${HOOK}  # in the vault
    # who
    ping_on_failure: [U1]

# what is run
entries:
  # the small one
  - {name: small, script: s.py, args: "--in {dataset:cc,jsonl}"}
# the end
"""
    )


def test_blocks_that_stand_apart_join_the_first_with_their_comments(tmp_path: Path) -> None:
    matrix, _ = files(tmp_path, APART)
    assert (
        migrate(matrix, None).text
        == """\
sinks:
  # of mlflow
  - name: mlflow
    enabled: false  # as before: only when asked for, now with --set sinks.mlflow.enabled=true
    tracking_uri: ${MLFLOW_URI}
  # of slack
  - name: slack
    enabled: ${HOOK:+true}
    webhook_url: ${HOOK}
  # of wandb
  - name: wandb
    enabled: false  # as before: only when asked for, now with --set sinks.wandb.enabled=true
    project: p

default_timeout_s: 3600  # an hour

# of entries
entries:
  - {name: a, script: s.py}   # first
"""
    )


def test_a_list_of_sinks_is_added_to_and_never_doubled(tmp_path: Path) -> None:
    for text in (WITH_SINKS, IN_ONE_LINE, EMPTY_LIST, TWICE):
        matrix, _ = files(tmp_path, text)
        new = migrate(matrix, None).text
        assert [line for line in new.splitlines() if line.startswith("sinks:")] == ["sinks:"]
    matrix, _ = files(tmp_path, TWICE)
    assert migrate(matrix, None).notes == ("mlflow: is a comment now, as `sinks:` has mlflow already",)
    assert "# mlflow:\n#   experiment: theirs\n" in migrate(matrix, None).text


def test_data_sets_that_are_there_are_replaced_as_they_were_for_a_run(tmp_path: Path) -> None:
    text = "datasets:\n  - {name: old, formats: [{type: t, path: /o}]}\n# of entries\nentries: []\n"
    matrix, datasets = files(tmp_path, text)
    new = migrate(matrix, datasets).text
    assert [item["name"] for item in yaml.safe_load(new)["datasets"]] == ["cc"]
    assert new.endswith("# of entries\nentries: []\n")


def test_what_cannot_keep_its_layout_says_so(tmp_path: Path) -> None:
    matrix, _ = files(tmp_path, ANCHORED)
    new = migrate(matrix, None)
    assert new.notes == ("its layout could not be kept, nor its comments: the file says the same",)
    assert yaml.safe_load(new.text)["x-note"] == {"webhook_env": "HOOK"}


NEWEST = """\
# where things are
paths:
  - {name: results_path, host_path: "${RESULTS}"}
cleanup_timeout_s: 60   # seconds
sinks:
#  - name: mlflow
#    tracking_uri: ${MLFLOW_URI}
  - name: slack
    enabled: true   # always
    channel_id: ${CHANNEL}
    default_metrics: ["exec_time_s"]
  - name: gdrive   # the archive
    drive_folder_id: ${FOLDER}
    service_account_file: ${ACCOUNT}
  - name: wandb
    enabled: false
    project: ${PROJECT}
  - name: junit
entries:
  - name: a
    script: s.py
    args: >-
      --key=${KEY} --other ${OTHER:-x}
"""


def test_the_newer_form_keeps_empty_values_and_sinks_that_did_not_act(tmp_path: Path) -> None:
    file, _ = files(tmp_path, NEWEST)
    new = migrate(file, None)
    assert new.notes == ()
    changed = [
        (old, line) for old, line in zip(NEWEST.splitlines(), _without_added(new.text), strict=True) if old != line
    ]
    assert changed == [
        ('  - {name: results_path, host_path: "${RESULTS}"}', '  - {name: results_path, host_path: "${RESULTS:-}"}'),
        ("    enabled: true   # always", '    enabled: "${CHANNEL:+true}"   # always'),
        ("      --key=${KEY} --other ${OTHER:-x}", "      --key=${KEY:-} --other ${OTHER:-x}"),
    ]
    path = new_file(tmp_path, new)
    path.write_text(new.text.replace("${RESULTS:-}", "/r"))
    bare = make_plan(load_config([path], {}), {})
    assert [sink["name"] for sink in bare.sinks] == ["junit"]
    assert bare.entries[0].args == ("--key=", "--other", "x")
    set_ = {"CHANNEL": "C1", "FOLDER": "f", "ACCOUNT": "a.json"}
    assert [sink["name"] for sink in make_plan(load_config([path], set_), set_).sinks] == ["slack", "gdrive", "junit"]


def _without_added(text: str) -> list[str]:
    return [line for line in text.splitlines() if line != '    enabled: "${FOLDER:+true}"']


def test_the_command_takes_either_form(workplace: Workplace) -> None:
    workplace.write("s.py", "")
    workplace.write("curator.yaml", NEWEST.replace("${RESULTS}", "/r"))
    workplace.write("matrix.yaml", APART)
    assert workplace.assay("migrate", "curator.yaml", "--output", "new.yaml").code == 0
    assert workplace.assay("run", "--config", "new.yaml", "--list").out.split() == ["a"]
    asked = workplace.assay("migrate", "matrix.yaml", "--sink", "wandb", "--output", "other/new.yaml")
    assert (asked.code, asked.err) == (2, "assay: other/new.yaml cannot be written: No such file or directory\n")
    (workplace.folder / "other").mkdir()
    asked = workplace.assay("migrate", "matrix.yaml", "--sink", "wandb", "--output", "other/new.yaml")
    assert asked.code == 0
    assert "note: scripts are looked for beside other/new.yaml, no longer beside matrix.yaml" in asked.err
    again = workplace.assay("migrate", "curator.yaml", "--output", "new.yaml")
    assert (again.code, "exists already" in again.err) == (2, True)
