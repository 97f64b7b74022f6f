from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.config.load_config import load_config
from assay.config.plan import Plan, make_plan
from assay.config.selection import Selection
from assay.errors import ConfigError, UsageError


def plan(folder: Path, *texts: str, environment: dict[str, str] | None = None, overrides: tuple[str, ...] = ()) -> Plan:
    files = []
    for number, text in enumerate(texts):
        files.append(folder / f"f{number}.yaml")
        files[-1].write_text(text)
    (folder / "s.py").touch()
    return make_plan(load_config(files, environment or {}, overrides), environment or {})


def problems(folder: Path, *texts: str, environment: dict[str, str] | None = None) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        plan(folder, *texts, environment=environment)
    return [problem.replace(f"{folder}/", "") for problem in caught.value.problems]


def test_later_files_win_and_lists_of_named_things_merge_by_name(tmp_path: Path) -> None:
    first = """
default_timeout_s: 10
entries:
  - {name: a, script: s.py, args: --x 1, requirements: [{metric: m, min_value: 1}, {metric: n, min_value: 2}]}
  - {name: b, script: s.py}
"""
    second = """
default_timeout_s: 20
entries:
  - {name: a, args: --x 2, requirements: [{metric: m, min_value: 5}]}
  - {name: c, script: s.py}
"""
    merged = plan(tmp_path, first, second)
    assert [entry.name for entry in merged.entries] == ["a", "b", "c"]
    a = merged.entry("a")
    assert (a.args, a.timeout_s) == (("--x", "2"), 20)
    assert [(item.metric, item.min_value) for item in a.requirements] == [("m", 5), ("n", 2)]


def test_defaults_are_the_documented_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    planned = plan(tmp_path, "entries: [{name: a, script: s.py}]")
    entry = planned.entries[0]
    assert (entry.timeout_s, entry.delete_scratch, entry.repeat, entry.grace_s) == (7200, True, 1, 5)
    assert planned.results_dir == tmp_path / "results"
    assert planned.artifacts_dir == tmp_path / "results/artifacts"


@pytest.mark.parametrize("name", ["../out", "a/b", "", ".hidden", "a\nb", "a b", "x" * 200, "..", "a\x00b", "-rf"])
def test_names_that_would_leave_their_folder_are_refused(tmp_path: Path, name: str) -> None:
    found = problems(tmp_path, f"entries:\n  - {{name: {json.dumps(name)}, script: s.py}}\n")
    assert found[0].startswith("f0.yaml:2:")
    assert "entries[0].name" in found[0] or "special characters" in found[0]


def test_two_of_one_name_in_one_file_are_refused(tmp_path: Path) -> None:
    text = "entries:\n  - {name: a, script: s.py}\n  - {name: a, script: s.py}\n"
    assert problems(tmp_path, text) == ["f0.yaml:3:12: entries: name 'a' stands here twice, first in line 2"]


def test_names_that_differ_only_in_case_are_refused(tmp_path: Path) -> None:
    assert (
        "is also the name of an entry at"
        in problems(tmp_path, "entries: [{name: a, script: s.py}, {name: A, script: s.py}]")[0]
    )


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    text = """
results: x
entries:
  - {name: a, script: s.py, timeout: 5}
  - {name: b, script: s.py, repeat: 0}
  - {name: c}
  - name: d
    script: s.py
    requirements: [{metric: m}]
"""
    found = problems(tmp_path, text)
    assert [problem.partition(" (known: ")[0] for problem in found] == [
        "f0.yaml:2:1: results: unknown key 'results'; did you mean 'results_dir'?",
        "f0.yaml:4:29: entries[0].timeout: unknown key 'timeout'; did you mean 'timeout_s'?",
        "f0.yaml:5:37: entries[1].repeat: must be greater than or equal to 1, not 0",
        "f0.yaml:6:5: entries[2]: needs either `script` or `command`",
        "f0.yaml:9:20: entries[3].requirements[0]: needs one of exact_value, min_value, max_value, max_regression",
    ]


def test_variables_and_their_defaults(tmp_path: Path) -> None:
    text = """
default_timeout_s: ${T:-33}
entries: [{name: a, script: s.py, args: '--in ${IN} --k "${K:-x y}" --l ${IN:-z}'}]
"""
    planned = plan(tmp_path, text, environment={"IN": "/my data"})
    assert planned.entries[0].timeout_s == 33
    assert planned.entries[0].args == ("--in", "/my data", "--k", "x y", "--l", "/my data")


def test_a_missing_variable_is_named_with_file_and_line(tmp_path: Path) -> None:
    found = problems(
        tmp_path, "results_dir: ${NOWHERE}/x\nentries:\n  - {name: a, script: s.py, args: '--x ${NOR_HERE}'}\n"
    )
    assert found[0].startswith("f0.yaml:1:14: results_dir: the environment variable NOWHERE is not set")


def test_what_is_switched_off_is_not_looked_at(tmp_path: Path) -> None:
    text = """
sinks: [{name: slack, enabled: false, channel_id: "${NOT_SET}"}]
entries:
  - {name: a, script: s.py}
  - {name: b, enabled: "${B:-false}", wrong_key: 1, args: "${NOT_SET}"}
"""
    planned = plan(tmp_path, text)
    assert [entry.name for entry in planned.entries] == ["a"]
    assert planned.sinks == ()


@pytest.mark.parametrize(
    "text",
    ["results_dir: results\n", "entries: []\n", "entries: [{name: a, script: s.py, enabled: false}]\n",
     "data_setups: [{name: fetch, script: s.py}]\n"],
)  # fmt: skip
def test_a_session_without_entries_is_refused(tmp_path: Path, text: str) -> None:
    assert problems(tmp_path, text) == [
        "f0.yaml: entries: there is none to run: it is missing or empty, or all are switched off (enabled: false)"
    ]


def test_anchors_and_x_keys_are_the_authors_own(tmp_path: Path) -> None:
    text = """
ray_config: &ray {num_cpus: 3}
x-note: anything
entries: [{name: a, script: s.py, ray: *ray, x-owner: me}]
"""
    assert plan(tmp_path, text).entries[0].ray.num_cpus == 3


def test_an_unclosed_quote_is_a_problem_of_the_file(tmp_path: Path) -> None:
    assert "no closing quotation" in problems(tmp_path, 'entries: [{name: a, script: s.py, args: "--x \'y"}]')[0]


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ("{dataset:cx,json}", "unknown data set 'cx' (known: cc)"),
        ("{dataset:cc,jsn}", "unknown format 'jsn' of data set 'cc'; did you mean 'json'?"),
        ("{dataset:cc}", "{dataset:cc}: write {dataset:name,format}"),
        ("{sesion_entry_dir}", "unknown placeholder 'sesion_entry_dir'; did you mean 'session_entry_dir'?"),
    ],
)
def test_what_only_an_entry_gets_wrong_fails_that_entry(tmp_path: Path, args: str, reason: str) -> None:
    datasets = "datasets: [{name: cc, formats: [{type: json, path: /d}]}]"
    text = f"{datasets}\nentries: [{{name: a, script: s.py, args: '{args}'}}]"
    assert plan(tmp_path, text).entries[0].problem.startswith(reason)


def test_json_in_an_argument_is_left_alone(tmp_path: Path) -> None:
    text = """entries: [{name: a, script: s.py, args: ['{"a": {"b": 1}}', "{{x}}"]}]"""
    entry = plan(tmp_path, text).entries[0]
    folders = dict.fromkeys(("session_entry_dir", "benchmark_results_path"), "/f")
    assert entry.arguments(folders)[:2] == ['{"a": {"b": 1}}', "{x}"]


def test_the_repository_of_the_first_config_is_known(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    deep = tmp_path / "a/b"
    deep.mkdir(parents=True)
    planned = plan(deep, "entries: [{name: a, script: s.py, args: '{curator_repo_dir} {repo_dir}'}]")
    assert planned.entries[0].args == (str(tmp_path), str(tmp_path))


def test_a_script_is_looked_for_in_four_places(tmp_path: Path) -> None:
    for folder in ("base", "scripts", "."):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "t.py").touch()
    text = f"entries: [{{name: a, script: t.py, script_base_dir: {tmp_path}/base}}, {{name: b, script: t.py}}]"
    planned = plan(tmp_path, text)
    assert [entry.script for entry in planned.entries] == [tmp_path / "base/t.py", tmp_path / "t.py"]
    (tmp_path / "t.py").unlink()
    assert plan(tmp_path, text).entries[1].script == tmp_path / "scripts/t.py"


def test_needs_that_go_in_a_circle_or_nowhere_are_refused(tmp_path: Path) -> None:
    circle = "entries: [{name: a, script: s.py, needs: [b]}, {name: b, script: s.py, needs: [a]}]"
    assert "entries that need each other can never start" in problems(tmp_path, circle)[0]
    assert "unknown entry 'zz' (known: a)" in problems(tmp_path, "entries: [{name: a, script: s.py, needs: [zz]}]")[0]


def test_what_an_entry_needs_comes_before_it(tmp_path: Path) -> None:
    text = "entries: [{name: a, script: s.py, needs: [c]}, {name: b, script: s.py}, {name: c, script: s.py}]"
    assert [entry.name for entry in plan(tmp_path, text).entries] == ["c", "a", "b"]


@pytest.mark.parametrize("override", ["nokey", "entries.zz.repeat=2", "=1"])
def test_an_override_that_cannot_be_is_one_message(tmp_path: Path, override: str) -> None:
    with pytest.raises(UsageError, match="--set"):
        plan(tmp_path, "entries: [{name: a, script: s.py}]", overrides=(override,))


@pytest.mark.parametrize(
    ("expression", "chosen"),
    [
        ("a", ["ab", "abc"]),
        ("a and not c", ["ab"]),
        ("*c", ["abc"]),
        ("(ab or x) and not abc", ["ab", "x"]),
        ("not a", ["x"]),
    ],
)
def test_selection(expression: str, chosen: list[str]) -> None:
    assert [name for name in ("ab", "abc", "x") if Selection(expression)(name)] == chosen


def test_ray_at_the_top_gives_every_entry_a_cluster_and_its_own_keys_win(tmp_path: Path) -> None:
    text = """
ray: {num_cpus: 8, num_gpus: 1, enable_object_spilling: false}
data_setups: [{name: fetch, script: s.py}]
entries:
  - {name: plain, script: s.py}
  - {name: command, command: "true"}
  - {name: own, script: s.py, ray: {num_cpus: 2, object_spilling: true}}
  - {name: without, script: s.py, ray: null}
"""
    made = plan(tmp_path, text)
    clusters = {entry.name: entry.ray for entry in made.entries}
    assert clusters["fetch"] is clusters["without"] is None
    assert clusters["plain"] == clusters["command"]
    assert (clusters["plain"].num_cpus, clusters["plain"].num_gpus, clusters["plain"].spills) == (8, 1, False)
    assert (clusters["own"].num_cpus, clusters["own"].num_gpus, clusters["own"].spills) == (2, 1, True)
    [problem] = problems(tmp_path, "ray: {num_cpu: 1}\nentries: [{name: a, script: s.py}]")
    assert problem.startswith("f0.yaml:1:7: ray.num_cpu: unknown key 'num_cpu'; did you mean 'num_cpus'?")


def test_a_sink_left_out_needs_none_of_its_variables(tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_text("sinks: [{name: slack, channel_id: '${NOT_SET}'}, {name: csv}]\nentries: [{name: a, command: x}]")
    assert [sink["name"] for sink in load_config([file], {}, without_sinks=["slack"]).session.sinks] == ["csv"]
    with pytest.raises(UsageError, match=r"--no-sink: unknown sink 'slak'; did you mean 'slack'"):
        load_config([file], {}, without_sinks=["slak"])
