"""Keys and flags that the newest configuration files of NeMo Curator's users have."""

from __future__ import annotations

from pathlib import Path

import pytest
from workplace import Workplace

from assay.api.run_inputs import RunInputs
from assay.config.entry_config import RayConfig
from assay.config.load_config import load_config
from assay.config.plan import Plan, make_plan
from assay.errors import ConfigError
from assay.session import machine
from assay.session.preflight import resource_warnings
from assay.session.ray_cluster import object_store_bytes

EVERY_KEY = """
paths:
  - {name: datasets_path, host_path: DATA, container_path: /datasets}
  - {name: results_path, host_path: RESULTS}
gpu_stats_recorder: {interval_s: 1.0}
datasets:
  - name: tiny
    formats: [{type: jsonl, path: "{datasets_path}/tiny"}]
default_timeout_s: 7200
max_timeout_s: 14340
cleanup_timeout_s: 60
min_timeout_s: 600
viewer_url_template: https://viewer.example/{session_name_url}?path={session_path}
sinks:
  - name: slack
    enabled: true
    live_updates: true
    thread_replies_for_failures_or_warnings_only: true
    channel_id: ${SLACK_CHANNEL_ID}
    default_metrics: ["exec_time_s"]
    ping_users_on_failure: true
  - name: gdrive
    enabled: true
    drive_folder_id: ${GDRIVE_FOLDER_ID}
    service_account_file: ${GDRIVE_SERVICE_ACCOUNT_FILE}
  - name: mlflow
    enabled: false
    tracking_uri: ${MLFLOW_TRACKING_URI}
delete_scratch: true
object_store_size: 0.25
gpu_mem_use_warning_threshold: 0.01
ray: {num_cpus: 128, num_gpus: 8, enable_object_spilling: false}
entries:
  - name: filter_xenna
    enabled: true
    script: filter_benchmark.py
    args: >-
      --benchmark-results-path={session_entry_dir}
      --input-path={dataset:tiny,jsonl}
    timeout_s: 1200
    sink_data:
      - name: slack
        additional_metrics: [throughput_docs_per_sec]
        ping_on_failure: [U0ABCDEF]
    requirements:
      - {metric: throughput_docs_per_sec, min_value: 3500, max_value: 9000}
      - {metric: is_success, exact_value: true}
    ray: {num_cpus: 8, num_gpus: 0}
    object_store_size: default
    delete_scratch: false
    gpu_mem_use_warning_threshold: 0.5
"""
SETUPS = """
data_setups:
  - name: tiny
    enabled: true
    script: prepare_tiny.py
    args: --output-path {datasets_path}/tiny
"""
VARIABLES = {"SLACK_CHANNEL_ID": "C1", "GDRIVE_FOLDER_ID": "f", "GDRIVE_SERVICE_ACCOUNT_FILE": "account.json"}


def written(place: Workplace, text: str = EVERY_KEY) -> list[str]:
    text = text.replace("DATA", str(place.folder / "data")).replace("RESULTS", str(place.folder / "results"))
    place.write("nightly.yaml", text)
    place.write("setup.yaml", SETUPS)
    place.write("scripts/filter_benchmark.py", "")
    place.write("data_prep/prepare_tiny.py", "")
    place.write("data/tiny/a.jsonl", "{}")
    return ["--config", "nightly.yaml", "--config", "setup.yaml"]


def plan(folder: Path, text: str, **environment: str) -> Plan:
    (folder / "f.yaml").write_text(text)
    (folder / "s.py").touch()
    return make_plan(load_config([folder / "f.yaml"], environment), environment)


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        plan(folder, text)
    return [problem.replace(f"{folder}/", "") for problem in caught.value.problems]


def test_a_file_with_every_key_is_planned_and_listed(workplace: Workplace) -> None:
    files = written(workplace)
    answer = workplace.assay("plan", *files, **VARIABLES)
    assert answer.code == 0, answer.out + answer.err
    assert f"results in {workplace.folder}/results" in answer.out
    assert f"--input-path={workplace.folder}/data/tiny" in answer.out
    cluster = "num_cpus=8, num_gpus=0, enable_object_spilling=False, object_store_size=default"
    assert f"with a Ray cluster: {cluster}" in answer.out
    assert f"{workplace.folder}/data_prep/prepare_tiny.py --output-path {workplace.folder}/data/tiny" in answer.out
    assert "sinks: slack, gdrive" in answer.out
    listed = workplace.assay("run", "--list", "--strict-config-check", *files, **VARIABLES)
    assert listed.out.split() == ["tiny", "filter_xenna"]


@pytest.mark.parametrize(
    ("right", "wrong", "near"),
    [
        ("max_timeout_s", "max_timout_s", "max_timeout_s"),
        ("container_path", "contaner_path", "container_path"),
        ("interval_s", "intervall_s", "interval_s"),
        ("gpu_mem_use_warning_threshold: 0.5", "gpu_mem_warning_threshold: 0.5", "gpu_mem_use_warning_threshold"),
        ("ping_users_on_failure", "ping_user_on_failure", "ping_users_on_failure"),
        ("ping_on_failure", "ping_on_failur", "ping_on_failure"),
    ],
)
def test_a_key_misspelt_gets_the_nearest_one(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch, right: str, wrong: str, near: str
) -> None:
    written(workplace, EVERY_KEY.replace(right, wrong, 1))
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError) as caught:
        RunInputs(config=(str(workplace.folder / "nightly.yaml"),)).plan()
    [line] = [line for line in caught.value.problems if "unknown key" in line]
    assert "nightly.yaml:" in line
    assert f"did you mean '{near}'?" in line


def test_an_unset_variable_is_an_error_that_names_the_lenient_way(workplace: Workplace) -> None:
    files = written(workplace)
    strict = workplace.assay("plan", *files)
    assert strict.code == 2
    assert "the environment variable SLACK_CHANNEL_ID is not set; set it" in strict.err
    assert "--lenient-config" in strict.err
    lenient = workplace.assay("plan", "--lenient-config", *files)
    assert lenient.code == 0, lenient.err
    assert (
        "channel_id: the environment variable SLACK_CHANNEL_ID is not set: its value is taken as empty" in lenient.out
    )
    assert "sinks[0] is left out, as SLACK_CHANNEL_ID is not set" in lenient.out
    assert "sinks: none" in lenient.out
    listed = workplace.assay("run", "--list", "--lenient-config", *files)
    assert listed.out.split() == ["tiny", "filter_xenna"]
    assert "warning: " in listed.err
    both = workplace.assay("plan", "--lenient-config", "--strict-config-check", *files)
    assert (both.code, "opposites" in both.err) == (2, True)


def test_a_lenient_reading_does_not_hide_a_misspelt_key(workplace: Workplace) -> None:
    files = written(workplace, EVERY_KEY.replace("live_updates", "live_update"))
    answer = workplace.assay("plan", "--lenient-config", *files)
    assert answer.code == 2
    assert "did you mean 'live_updates'?" in answer.err


def test_exact_names_choose_and_each_must_exist(workplace: Workplace) -> None:
    workplace.write("s.py", "")
    workplace.write("f.yaml", "entries: [{name: tag, script: s.py}, {name: tag_repeat, script: s.py}]")
    chosen = workplace.assay("run", "--config", "f.yaml", "--list", "--entries-exact", "tag, ")
    assert chosen.out.split() == ["tag"]
    wrong = workplace.assay("run", "--config", "f.yaml", "--list", "--entries-exact", "tag,tag_repat")
    assert wrong.code == 2
    assert "--entries-exact: unknown entry 'tag_repat'; did you mean 'tag_repeat'?" in wrong.err
    both = workplace.assay("run", "--config", "f.yaml", "--list", "--entries-exact", "tag", "--entries", "tag")
    assert (both.code, "give one" in both.err) == (2, True)


PATHS = """
paths:
  - {name: data, host_path: /host/data, container_path: /datasets}
  - {name: results_path, host_path: /host/results}
datasets: [{name: d, formats: [{type: t, path: "{data}/d"}]}]
entries: [{name: a, script: s.py, args: "{dataset:d,t} {data}"}]
"""


def test_a_named_path_is_the_hosts_or_the_containers(tmp_path: Path) -> None:
    host = plan(tmp_path, PATHS)
    assert host.entries[0].args == ("/host/data/d", "/host/data")
    assert host.results_dir == Path("/host/results")
    inside = plan(tmp_path, PATHS, ASSAY_IN_CONTAINER="1")
    assert inside.entries[0].args == ("/datasets/d", "/datasets")
    assert inside.results_dir == Path("/MOUNT/host/results")
    assert plan(tmp_path, PATHS, ASSAY_IN_CONTAINER="0").results_dir == Path("/host/results")


@pytest.mark.parametrize(
    ("top", "results"),
    [
        ("results_path: other", "/o"),
        ("results_path: '{other}/deep'", "/o/deep"),
        ("results_path: /plain", "/plain"),
        ("results_dir: '{other}/x'", "/o/x"),
        ("results_path: /plain\nartifacts_dir: '{results_path}/large'", "/plain"),
        ("results_path: over\nartifacts_dir: '{results_path}/large'", "/plain"),
    ],
)
def test_where_results_go_may_be_said_by_name(tmp_path: Path, top: str, results: str) -> None:
    text = f"""{top}
paths: [{{name: other, host_path: /o}}, {{name: over, host_path: /plain}}]
entries: [{{name: a, script: s.py}}]
"""
    planned = plan(tmp_path, text)
    assert planned.results_dir == Path(results)
    if "artifacts_dir" in top:
        assert planned.artifacts_dir == Path("/plain/large")


def test_a_path_at_the_top_comes_before_one_of_its_name_in_the_list(tmp_path: Path) -> None:
    text = "results_path: /top\npaths: [{name: results_path, host_path: /listed}]\nentries: [{name: a, script: s.py}]\n"
    assert plan(tmp_path, text).results_dir == Path("/top")
    assert plan(tmp_path, text, ASSAY_IN_CONTAINER="1").results_dir == Path("/MOUNT/top")


def test_a_results_path_that_looks_like_a_name_is_one_of_those_listed(tmp_path: Path) -> None:
    text = "results_path: otehr\npaths: [{name: other, host_path: /o}]\nentries: [{name: a, script: s.py}]\n"
    [said] = problems(tmp_path, text)
    assert said.startswith("f.yaml:1:15: results_path: unknown path 'otehr'; did you mean 'other'? (known: other)")
    assert said.endswith("a folder of that name is written ./otehr")
    assert plan(tmp_path, text.replace("otehr", "./otehr")).results_dir.name == "otehr"


@pytest.mark.parametrize("template", ["https://v/{session_name", "https://v/session_name}"])
def test_a_brace_without_its_other_half_is_refused(tmp_path: Path, template: str) -> None:
    [said] = problems(tmp_path, f"viewer_url_template: '{template}'\nentries: [{{name: a, script: s.py}}]\n")
    assert said.startswith("f.yaml:1:22: viewer_url_template: has a brace without its other half")


def test_a_placeholder_that_there_is_not_is_named_with_its_line(tmp_path: Path) -> None:
    text = "paths: [{name: other, host_path: /o}]\nresults_dir: '{othr}/x'\nentries: [{name: a, script: s.py}]\n"
    [problem] = problems(tmp_path, text)
    assert problem.startswith("f.yaml:2:14: results_dir: unknown placeholder 'othr'; did you mean 'other'?")


def test_limits_stay_below_the_ceiling_and_a_job_has_room_to_clear_up(tmp_path: Path) -> None:
    text = """
default_timeout_s: 500
max_timeout_s: 300
cleanup_timeout_s: 2
min_timeout_s: 100
entries:
  - {name: default, script: s.py}
  - {name: short, script: s.py, timeout_s: 10}
  - {name: twice, script: s.py, timeout_s: 100, repeat: 2, grace_s: 1}
data_setups: [{name: fetch, script: s.py}]
"""
    planned = plan(tmp_path, text)
    assert {entry.name: entry.timeout_s for entry in planned.entries} == {
        "fetch": 500, "default": 300, "short": 10, "twice": 100,
    }  # fmt: skip
    assert {entry.name: entry.job_timeout_s for entry in planned.entries} == {
        "fetch": 502, "default": 302, "short": 100, "twice": 204,
    }  # fmt: skip
    assert {entry.name: entry.grace_s for entry in planned.entries if not entry.is_setup} == {
        "default": 2, "short": 2, "twice": 1,
    }  # fmt: skip
    assert list(resource_warnings(planned.entry("default"))) == ["timeout_s asks for 500 s, max_timeout_s allows 300"]
    assert not list(resource_warnings(planned.entry("short")))


def test_rays_keys_come_from_the_entry_then_from_the_session(tmp_path: Path) -> None:
    text = """
object_store_size: 1000000000
ray: {num_cpus: 4, enable_object_spilling: false}
entries:
  - {name: all, script: s.py}
  - {name: own, script: s.py, ray: {num_cpus: 2, object_spilling: true}, object_store_size: 0.5}
  - {name: inner, script: s.py, ray: {object_store_size: default}, object_store_size: 0.5}
  - {name: without, script: s.py, ray: null}
data_setups: [{name: fetch, script: s.py}]
"""
    planned = plan(tmp_path, text)
    rays = {entry.name: entry.ray and entry.ray.model_dump(exclude_unset=True) for entry in planned.entries}
    assert rays == {
        "fetch": None,
        "all": {"object_store_size": 1000000000, "num_cpus": 4, "enable_object_spilling": False},
        "own": {"object_store_size": 0.5, "num_cpus": 2, "object_spilling": True},
        "inner": {"object_store_size": "default", "num_cpus": 4, "enable_object_spilling": False},
        "without": None,
    }


def test_an_object_store_is_bytes_a_share_of_memory_or_rays_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "usable_memory_bytes", lambda: 8_000_000_000)
    sizes = {
        given: object_store_bytes(RayConfig(object_store_size=given)) for given in (0.5, "0.25", 7, "9", "default")
    }
    assert sizes == {0.5: 4_000_000_000, "0.25": 2_000_000_000, 7: 7, "9": 9, "default": None}
    assert object_store_bytes(RayConfig()) is None


@pytest.mark.parametrize("size", ["-1", "1.5", "lots", "0", "true", "[1]"])
def test_any_other_size_is_refused_in_one_sentence(tmp_path: Path, size: str) -> None:
    [problem] = problems(tmp_path, f"object_store_size: {size}\nentries: [{{name: a, script: s.py}}]\n")
    assert problem.startswith(
        "f.yaml:1:20: object_store_size: is bytes, a fraction of memory such as 0.5, or `default`"
    )


def test_a_size_without_a_cluster_is_wondered_about(tmp_path: Path) -> None:
    planned = plan(tmp_path, "entries: [{name: a, script: s.py, object_store_size: 0.5}]\n")
    assert planned.warnings == ("a: object_store_size is of a Ray cluster, and it has none: add `ray:`",)


def test_what_is_said_to_a_sink_names_it(tmp_path: Path) -> None:
    text = "entries: [{name: a, script: s.py, sink_data: [{nam: slack}]}]"
    assert problems(tmp_path, text) == [
        "f.yaml:1:46: entries[0].sink_data: each says the `name` of the sink that it is for"
    ]


def test_a_band_that_holds_nothing_is_refused(tmp_path: Path) -> None:
    text = "entries:\n  - {name: a, script: s.py, requirements: [{metric: m, min_value: 3, max_value: 2}]}\n"
    assert problems(tmp_path, text) == ["f.yaml:2:44: entries[0].requirements[0]: no value is at least 3 and at most 2"]


def test_a_variable_can_switch_something_on(tmp_path: Path) -> None:
    text = """
sinks:
  - {name: slack, enabled: "${HOOK:+true}", webhook_url: "${HOOK}"}
  - {name: junit, enabled: "${JUNIT:-yes}"}
entries: [{name: a, script: s.py}]
"""
    assert [sink["name"] for sink in plan(tmp_path, text).sinks] == ["junit"]
    on = plan(tmp_path, text, HOOK="http://127.0.0.1:9/x").sinks
    assert [(sink["name"], sink["enabled"]) for sink in on] == [("slack", True), ("junit", True)]


def test_a_data_setup_need_not_write_results_and_gets_no_option_for_them(workplace: Workplace) -> None:
    workplace.write("data_prep/prepare.py", "import sys; assert sys.argv[1:] == ['--output-path', 'x'], sys.argv")
    workplace.write("s.yaml", """
data_setups: [{name: prepare, script: prepare.py, args: --output-path x}]
entries: [{name: a, command: "true"}]
""")  # fmt: skip
    assert workplace.assay("run", "--config", "s.yaml").code == 0
    assert workplace.records()["prepare"].success


def test_a_key_with_nothing_behind_it_is_as_good_as_not_there(tmp_path: Path) -> None:
    text = """
sinks:
#  - name: slack
paths:
ray:
entries:
  - name: a
    script: s.py
    args:
    requirements:
    #  - metric: x
    sink_data:
    timeout_s:
"""
    planned = plan(tmp_path, text)
    assert (planned.sinks, planned.entries[0].args, planned.entries[0].timeout_s) == ((), (), 7200)
    assert problems(tmp_path, "entries:\n  - {name: , script: s.py}\n") == ["f.yaml:2:5: entries[0].name: is missing"]
