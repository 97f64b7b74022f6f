"""Keys of the benchmark that Assay grew from: each is honoured, or refused with the reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from load_stages import Add, EvenOdd, Fragile

from assay.cli.main import main
from assay.errors import ConfigError
from assay.loadgen import Graph, LoadGen, Node, SingleStreamLoadScheduler, Stop
from assay.loadgen.colocation.build_components import build_graph, build_load
from assay.loadgen.colocation.pipeline_worker import listener_notes
from assay.loadgen.colocation.read_config import read_config
from assay.stages.synthetic import NoOp, PassThrough

FORKED = """\
name: "Two branches — and an end (all keys)"
listeners: [smi, dcgmi, top, iostat, macmon]
pipelines:
  - name: Two branches
    inputs: [0]
    outputs: [3]
    dataset_stage_id: 0
    serialize_queries: true
    loadgen:
      component: loadgen.schedulers.OfflineLoadScheduler
      queue_depth: 10
      max_queries: 4
      timeout: 600000
      is_training: True
      config:
        rate: 0 # as fast as it goes
    stages:
      - {name: Start, id: 0, outputs: [1, 2], component: stages.stage.Stage, disable_logs: true}
      - {name: Left, id: 1, outputs: [3], component: no_op, polling_policy: utils.queues.polling.SingleQueuePolicy}
      - {name: Right, id: 2, outputs: [3], component: stages.synthetic.NoOp, max_input_queue_depth: 2}
      - name: End
        id: 3
        outputs: []
        component: stages.Stage
        polling_policy: utils.queues.polling.FirstSubmittedPolicy
        disable_logs: false
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "c.yml"
    path.write_text(text)
    return path


def problems(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read_config(write(tmp_path, text))
    return [problem.removeprefix(f"{tmp_path}/") for problem in caught.value.problems]


def test_every_key_is_read(tmp_path: Path) -> None:
    (pipeline,) = read_config(write(tmp_path, FORKED)).pipelines
    graph, load = build_graph(pipeline), build_load(pipeline)
    assert [type(graph.node(n).stage) for n in (0, 3)] == [PassThrough, PassThrough]
    assert [graph.node(n).join for n in range(4)] == [None, None, None, "each"]
    assert graph.silent == {0}
    assert (load.scheduler.rate, load.queue_depth, load.training, load.stop.timeout) == (None, 1, True, 600000)


def test_an_output_named_twice_is_one_and_no_keys_are_none(tmp_path: Path) -> None:
    text = FORKED.replace("outputs: [1, 2]", "outputs: [1, 2, 1]").replace("disable_logs: false", "config:")
    graph = build_graph(read_config(write(tmp_path, text)).pipelines[0])
    assert graph.node(0).outputs == (1, 2)


@pytest.mark.parametrize("prefix", ["utils.queues.polling.", "stages.queues.polling.", ""])
def test_a_policy_is_known_by_its_class_whatever_its_module(tmp_path: Path, prefix: str) -> None:
    for policy, join in (("MergePolicy", "merge"), ("FirstSubmittedPolicy", "each")):
        text = FORKED.replace("utils.queues.polling.FirstSubmittedPolicy", prefix + policy)
        assert build_graph(read_config(write(tmp_path, text)).pipelines[0]).node(3).join == join
        # Said twice, the same: nothing is wrong with it.
        both = text.replace("disable_logs: false", f"join: {join}")
        assert build_graph(read_config(write(tmp_path, both)).pipelines[0]).node(3).join == join


END = "pipelines[0].stages[3].polling_policy: "
REFUSED = [
    (
        "FirstSubmittedPolicy\n",
        "FirstSubmittedPolicy\n        join: merge\n",
        END + "FirstSubmittedPolicy is `join: each`, but `join: merge` is given too: leave one of them out",
    ),
    (
        "FirstSubmittedPolicy",
        "SingleQueuePolicy",
        END + "SingleQueuePolicy is for one input, and this stage has 2: use FirstSubmittedPolicy (runs on each) or "
        "MergePolicy (waits for all)",
    ),
    (
        "FirstSubmittedPolicy",
        "FirstSubmitedPolicy",
        END + "unknown polling policy 'FirstSubmitedPolicy'; did you mean 'FirstSubmittedPolicy'?",
    ),
    (
        "utils.queues.polling.FirstSubmittedPolicy",
        "mine.Shortest",
        "Assay has no queues between stages that a class of one's own could read: use `join: first`",
    ),
    ("iostat", "iostats", "c.yml:2:30: listeners[3]: unknown listener 'iostats'; did you mean 'iostat'?"),
    (
        "component: no_op,",
        "component: no_op, run: thread,",
        "pipelines[0].stages[2].max_input_queue_depth: the queues before stages with workers cannot be bounded",
    ),
    ('name: "Two branches — and an end (all keys)"', "name: …", "c.yml:1:7: name: '…' needs a letter or a digit"),
    ("name: Two branches\n", f"name: {'x' * 201}\n", "pipelines[0].name: the name is too long for a folder"),
]


@pytest.mark.parametrize(("old", "new", "expected"), REFUSED)
def test_what_cannot_be_honoured_is_refused_once_with_the_reason(
    tmp_path: Path, old: str, new: str, expected: str
) -> None:
    assert old in FORKED
    (found,) = problems(tmp_path, FORKED.replace(old, new, 1))
    assert expected in found


def test_pipelines_whose_results_would_share_a_folder_are_refused(tmp_path: Path) -> None:
    one = "{name: %s, loadgen: {component: offline, max_queries: 1}, stages: [{id: 0, component: no_op}]}"
    text = f"pipelines: [{one % 'a b'}, {one % 'a-b'}]"
    assert problems(tmp_path, text) == [
        "c.yml:1:117: pipelines[1].name: results of 'a-b' and 'a b' would share the folder a-b"
    ]


def test_a_stage_whose_logs_are_disabled_has_no_rows_and_its_time_is_in_no_stages() -> None:
    def counts(nodes: list[Node], **more: Any) -> dict[int, int]:
        result = LoadGen(Graph.build(nodes), SingleStreamLoadScheduler(), Stop(max_queries=8), **more).run()
        assert not result.stages[1].recorded
        assert [stage["recorded"] for stage in result.to_json()["stages"]] == [n != 1 for n in result.stages]
        assert "disable_logs: the time of stage 1 (silent) is in no stage's" in result.warnings
        rows = result.measured.rows
        for query in {*rows["query"].tolist()}:
            mine = rows[rows["query"] == query]
            mine = mine[mine["stage"] >= 0]
            assert (mine["start"][1:] >= mine["end"][:-1]).all()
        return {stage: int((rows["stage"] == stage).sum()) for stage in (-1, *result.stages)}

    chain = [Node(0, NoOp(), outputs=(1,)), Node(1, Fragile(5), "silent", (2,), recorded=False), Node(2, Add())]
    assert counts(chain, max_failures=1) == {-1: 8, 0: 8, 1: 0, 2: 7}
    routed = [
        Node(0, EvenOdd("silent"), outputs=(1, 2)),
        Node(1, Fragile(6), "silent", (3,), recorded=False),
        Node(2, NoOp(), "odd", (3,)),
        Node(3, Add(), join="each"),
    ]
    assert counts(routed, max_failures=1) == {-1: 8, 0: 8, 1: 0, 2: 4, 3: 7}


def test_a_users_file_runs_and_says_what_this_machine_cannot_show(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["colocate", str(write(tmp_path, FORKED)), "--results", str(out), "--quiet"]) == 0
    shown = capsys.readouterr().out
    [line] = [line.split() for line in shown.splitlines() if "0 Start" in line]
    assert line[-6:] == ["not", "recorded", "–", "–", "–", "–"]
    [written] = list(out.rglob("result.json"))
    result = json.loads(written.read_text())
    assert (result["completed"], [stage["recorded"] for stage in result["stages"]]) == (4, [False, True, True, True])
    assert [stage["count"] for stage in result["stages"]] == [0, 4, 4, 8]
    notes = [warning for warning in result["warnings"] if warning.startswith("listeners")]
    assert notes == [
        "listeners: nothing of smi, dcgmi in usage.csv: no counter of an NVIDIA GPU could be read",
        "listeners: nothing of macmon in usage.csv: it shows Apple's processors, and Assay reads Linux's counters only",
    ]
    assert all(note in shown for note in notes)


def test_a_column_without_a_value_shows_nothing(tmp_path: Path) -> None:
    usage = tmp_path / "usage.csv"
    usage.write_text("t_s,cpu_s,gpu_util\n0.1,0.2,\n0.2,0.3,\n")
    assert len(listener_notes(["smi", "TOP"], usage)) == 1
    usage.write_text("t_s,cpu_s,gpu_util\n0.1,0.2,\n0.2,0.3,50\n")
    assert listener_notes(["smi", "top"], usage) == ()
    assert len(listener_notes(["top", "iostat"], tmp_path / "none")) == 1


def test_queries_are_sent_one_at_a_time_where_they_are_serialized(tmp_path: Path) -> None:
    text = FORKED.replace("component: no_op", "run: thread, component: no_op").replace(", max_input_queue_depth: 2", "")
    (pipeline,) = read_config(write(tmp_path, text)).pipelines
    load = build_load(pipeline)
    result = LoadGen(build_graph(pipeline), load.scheduler, load.stop, load.queue_depth).run()
    rows = result.measured.queries
    assert result.completed == 4
    assert (rows["start"][1:] >= rows["end"][:-1]).all()
