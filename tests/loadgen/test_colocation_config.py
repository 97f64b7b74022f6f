from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import ConfigError
from assay.loadgen import OfflineLoadScheduler
from assay.loadgen.colocation.build_components import build_graph, build_load
from assay.loadgen.colocation.pipeline_limits import limits_problem
from assay.loadgen.colocation.read_config import read_config

SEED = """\
name: "benchmark_run_name"
pipelines:
  - name: "Pipeline Name"
    inputs: [0] # IDs of input stages
    outputs: [1] # IDs of output stages
    dataset_stage_id: 0
    loadgen:
      component: loadgen.OfflineLoadScheduler
      queue_depth: 10
      max_queries: 100
      timeout: 60
      config:
        rate: 5 # requests/sec
    stages:
      - name: "Stage 1 (e.g., DataLoader)"
        id: 0
        outputs: [1]
        component: stages.synthetic.Samples
        config:
          count: 8
      - name: "Stage 2 (e.g., Model)"
        id: 1
        component: stages.synthetic.BusyCpu
        config:
          iterations: 100
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "c.yml"
    path.write_text(text)
    return path


def problems(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read_config(write(tmp_path, text))
    return [problem.removeprefix(f"{tmp_path}/") for problem in caught.value.problems]


def test_the_seeds_form_is_read_as_it_stands(tmp_path: Path) -> None:
    (pipeline,) = read_config(write(tmp_path, SEED)).pipelines
    load = build_load(pipeline)
    assert isinstance(load.scheduler, OfflineLoadScheduler)
    assert (load.scheduler.rate, load.queue_depth, load.stop.max_queries, load.stop.timeout) == (5, 10, 100, 60)
    graph = build_graph(pipeline)
    assert graph.dataset == 0
    assert graph.names == {0: "Stage 1 (e.g., DataLoader)", 1: "Stage 2 (e.g., Model)"}
    assert graph.linear() is not None


AT = "pipelines[0]"
WRONG = [
    (
        "queue_depth: 10",
        "queue_dept: 10",
        "c.yml:9:7: {}.loadgen.queue_dept: unknown key 'queue_dept'; did you mean 'queue_depth'?",
    ),
    ("        id: 1\n", "        id: 0\n", "c.yml:22:13: {}.stages[1].id: id 0 is already the id of"),
    ("outputs: [1] # IDs", "outputs: [4] # IDs", "c.yml:5:15: {}.outputs[0]: unknown stage 4 (known: 0, 1)"),
    (
        "        outputs: [1]\n",
        "        outputs: [9]\n",
        "c.yml:17:19: {}.stages[0].outputs[0]: leads to unknown stage 9",
    ),
    ("        outputs: [1]\n", "", "c.yml:20:9: {}.stages[1]: stage 1 (Stage 2 (e.g., Model)) cannot be reached"),
    ("inputs: [0]", "inputs: [0, 1]", "{}.stages[1]: stage 1 (Stage 2 (e.g., Model)) has 2 inputs and no policy"),
    (
        "rate: 5",
        "rat: 5",
        "c.yml:13:14: {}.loadgen.config.rat: OfflineLoadScheduler: unknown key 'rat'; did you mean 'rate'?",
    ),
    ("rate: 5", "rate: -1", "c.yml:13:9: {}.loadgen.config: OfflineLoadScheduler: rate must be greater than 0, or 0"),
    ("Offline", "Oflin", "c.yml:8:18: {}.loadgen.component: unknown load scheduler 'loadgen.OflinLoadScheduler'"),
    ("synthetic.BusyCpu", "synthetic.Nothing", "c.yml:23:20: {}.stages[1].component: unknown stage"),
    ("stages.synthetic.BusyCpu", "loadgen.Graph", "is no stage: it does not inherit from Stage"),
    ("iterations: 100", "iteration: 100", "c.yml:25:22: {}.stages[1].config.iteration: BusyCpu: unknown key"),
    ("dataset_stage_id: 0", "dataset_stage_id: 5", "c.yml:6:23: {}.dataset_stage_id: unknown stage 5 (known: 0, 1)"),
    (
        "dataset_stage_id: 0",
        "device: cuda:0",
        "c.yml:6:13: {}.device: cuda:0 was asked for but this machine has no GPU",
    ),
    ("dataset_stage_id: 0", "cpus: [4096]", "c.yml:6:11: {}.cpus: this process may not use processor 4096"),
    ("        id: 1\n", "        id: 1\n        workers: 3\n", "workers need `run: thread` or `run: process`"),
]


@pytest.mark.parametrize(("old", "new", "expected"), WRONG)
def test_what_is_wrong_is_named_with_file_and_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in SEED
    found = problems(tmp_path, SEED.replace(old, new, 1))
    assert any(expected.format(AT) in problem for problem in found), found


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    text = (
        SEED.replace("rate: 5", "rat: 5")
        .replace("synthetic.BusyCpu", "synthetic.Nope")
        .replace("[1] # IDs", "[7] # IDs")
    )
    assert len(problems(tmp_path, text)) == 3


def test_a_pipeline_without_an_end_is_refused(tmp_path: Path) -> None:
    text = "pipelines: [{name: a, loadgen: {component: %s}, stages: [{id: 0, component: no_op}]}]"
    assert "never ends" in problems(tmp_path, text % "poisson, config: {rate: 5}")[0]
    assert "a closed loop never ends" in problems(tmp_path, text % "single_stream")[0]


def test_empty_lists_are_refused(tmp_path: Path) -> None:
    assert "c.yml:1:12: pipelines: there is none" in problems(tmp_path, "pipelines: []")[0]
    text = "pipelines: [{name: a, loadgen: {component: offline, max_queries: 1}, stages: []}]"
    assert "pipelines[0].stages: there is none" in problems(tmp_path, text)[0]


def test_two_pipelines_of_one_name_are_refused(tmp_path: Path) -> None:
    one = "{name: a, loadgen: {component: offline, max_queries: 1}, stages: [{id: 0, component: no_op}]}"
    assert "there is another pipeline 'a'" in problems(tmp_path, f"pipelines: [{one}, {one}]")[0]


def test_stages_beside_the_configuration_are_found(tmp_path: Path) -> None:
    (tmp_path / "my_own_stage_for_test.py").write_text(
        "from assay.pipeline.stage import Stage\n"
        "class Mine(Stage):\n    def process(self, data):\n        return data\n"
    )
    text = SEED.replace("stages.synthetic.BusyCpu", "my_own_stage_for_test.Mine").replace("iterations: 100", "{}")
    text = text.replace("        config:\n          {}\n", "")
    assert read_config(write(tmp_path, text)).pipelines[0].stages[1].component == "my_own_stage_for_test.Mine"


def test_a_scheduler_that_puts_queries_into_a_queue_itself_is_told_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "queueing.py").write_text(
        "from loadgen.schedulers.scheduler import LoadScheduler\n"
        "class Queueing(LoadScheduler):\n"
        "    def __init__(self, loadgen_config): pass\n"
        "    def generate(self, queue, event): queue.put(1)\n"
    )
    [problem] = problems(tmp_path, SEED.replace("loadgen.OfflineLoadScheduler", "queueing.Queueing"))
    assert problem.endswith("Queueing does not define arrivals, which LoadScheduler of Assay asks for")


def test_limits_are_refused_where_the_machine_does_not_permit_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = SEED.replace("dataset_stage_id: 0", "limits: {cpus: 0.5}")
    monkeypatch.setattr("assay.loadgen.colocation.pipeline_limits._limit_roots", list)
    assert limits_problem() == "this machine has no cpu and memory control groups"
    [problem] = problems(tmp_path, text)
    assert "c.yml:6:13: pipelines[0].limits: this machine has no cpu and memory control groups; leave" in problem


def test_every_registered_name_resolves() -> None:
    from assay.loadgen.colocation.build_components import SCHEDULERS, STAGES

    assert all(SCHEDULERS.find(name) for name in SCHEDULERS)
    assert all(STAGES.find(name) for name in STAGES)
