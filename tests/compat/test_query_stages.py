"""Stages of users' own in the colocation benchmark's full form: `run(query)` returns where the query goes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from workplace import Workplace

from assay.errors import ConfigError
from assay.loadgen import LoadGen, LoadResult
from assay.loadgen.colocation.build_components import build_graph, build_load
from assay.loadgen.colocation.colocation_config import PipelineConfig
from assay.loadgen.colocation.read_config import read_config
from assay.pipeline.run_stage import RunStage, takes_queries
from assay.stages.synthetic import NoOp

STAGES = """\
import json

from stages.stage import Stage, log_phase
from utils.component import get_component
from utils.schemas import PipelineModel, Query, StageModel


class Words(Stage):
    \"\"\"Two splits of words.\"\"\"

    def __init__(self, stage_config: StageModel, pipeline_config: PipelineModel):
        super().__init__(stage_config, pipeline_config)
        self._size = self.extra_config.get("batch_size", 1)
        self._words = {"train": ["b", "a", "d", "c"], "val": ["e", "f"]}
        self.sorter = None

    def get_dataset_splits(self) -> dict[str, int]:
        return {split: len(words) // self._size for split, words in self._words.items()}

    def get_batch_size(self):
        return self._size

    @log_phase
    def prepare(self):
        super().prepare()
        self.sorter = self.dispatch_call(self.extra_config["sorter_stage_id"], "get_sorter")

    def run(self, query: Query) -> dict[int, Query]:
        first = query.batch * self._size
        query.data = self._words[query.split][first : first + self._size]
        query.context["question"] = list(query.data)
        return {idx: query for idx in self.output_queues}


class Sort(Stage):
    def __init__(self, stage_config, pipeline_config):
        super().__init__(stage_config, pipeline_config)
        self._sorter = get_component("builtins.sorted")

    def get_sorter(self):
        return self._sorter

    def run(self, query: Query) -> dict[int, Query]:
        query.data = self._sorter(query.data)
        return {idx: query for idx in self.output_queues}


class Judge(Stage):
    \"\"\"Sends a query round until it has no retries left, by its id.\"\"\"

    def __init__(self, stage_config, pipeline_config):
        super().__init__(stage_config, pipeline_config)
        self._again, self._end = self.extra_config["again_stage_id"], self.extra_config["end_stage_id"]
        self._left = {}

    def run(self, query: Query) -> dict[int, Query]:
        left = self._left.setdefault(query.query_id, self.extra_config["max_retries"])
        self._left[query.query_id] = left - 1
        return {self._again if left else self._end: query}


class Capture(Stage):
    def __init__(self, stage_config, pipeline_config):
        super().__init__(stage_config, pipeline_config)
        self._file = None

    def pre_run(self):
        self._file = open(self.extra_config["path"], "a")

    def post_run(self):
        self._file.close()

    def run(self, query):
        told = [self.parent_name, self.name, query.split, query.batch, query.context["question"], query.data]
        print(json.dumps(told), file=self._file)
        return {idx: query for idx in self.output_queues}

"""
ROUND = """\
name: Round and round
pipelines:
  - name: Sorting
    inputs: [0]
    outputs: [4]
    dataset_stage_id: 0
    loadgen: {component: loadgen.OfflineLoadScheduler, queue_depth: 10, max_queries: 8, timeout: 600, config: {rate: 0}}
    stages:
      - {name: Words, id: 0, outputs: [1], component: stages.own.Words, config: {batch_size: 2, sorter_stage_id: 2}}
      - name: Doubled
        id: 1
        outputs: [2]
        component: doubling.Doubled
        polling_policy: utils.queues.polling.FirstSubmittedPolicy
      - {name: Sort, id: 2, outputs: [3], component: stages.own.Sort}
      - name: Judge
        id: 3
        outputs: [1, 4]
        component: stages.own.Judge
        config: {again_stage_id: 1, end_stage_id: 4, max_retries: 2}
      - name: End
        id: 4
        component: stages.own.Capture
        polling_policy: utils.queues.polling.FirstSubmittedPolicy
        config: {path: captured.jsonl}
"""
DOUBLED = """\
from assay.pipeline import Stage, StreamStage
from assay.record.metric import Metric


class Doubled(Stage):
    def process(self, data):
        return data * 2


class Letters(Stage):
    # A data set of Assay's kind, that scores what comes out.

    def __len__(self):
        return 3

    def process(self, number):
        return "abc"[number]

    def score(self, result):
        self.scored = [*getattr(self, "scored", []), result]

    def measured(self):
        return [Metric("scored", len(self.scored)), Metric("right", sum(r in ("aa", "bb", "cc") for r in self.scored))]


class Count(StreamStage):
    def process(self, data):
        yield from data

    def collected(self, items):
        return "".join(items)
"""


def captured(folder: Path) -> list[list[Any]]:
    return [json.loads(line) for line in (folder / "captured.jsonl").read_text().splitlines()]


def test_a_graph_of_them_runs_as_it_is_beside_a_stage_of_assays_kind(workplace: Workplace) -> None:
    workplace.write("stages/own.py", STAGES)
    workplace.write("doubling.py", DOUBLED)
    workplace.write("pipeline_configs/round.yml", ROUND)
    answer = workplace.assay("colocate", "pipeline_configs/round.yml", "--results", "out", "--quiet")
    assert answer.code == 0, answer.out + answer.err
    assert answer.err == "stages.stage, utils.component, utils.schemas: not found, so Assay's own stood in for them\n"
    epoch = [("train", 0, ["b", "a"]), ("train", 1, ["d", "c"]), ("val", 0, ["e", "f"])]
    assert captured(workplace.folder) == [
        ["Sorting", "End", split, batch, words, sorted(words * 8)]
        for split, batch, words in [*epoch, *epoch, *epoch[:2]]
    ]
    [result] = [json.loads(path.read_text()) for path in (workplace.folder / "out").rglob("result.json")]
    assert [stage["count"] for stage in result["stages"]] == [8, 24, 24, 24, 8]


class Here:
    """The same in this process, with a module that no other test has imported."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._module = f"own_{folder.name}"

    def read(self, text: str, stages: str = STAGES) -> PipelineConfig:
        (self.folder / f"{self._module}.py").write_text(stages + DOUBLED)
        path = self.folder / "c.yml"
        text = text.replace("stages.own.", f"{self._module}.").replace("doubling.", f"{self._module}.")
        path.write_text(text.replace("captured.jsonl", str(self.folder / "captured.jsonl")))
        return read_config(path).pipelines[0]

    def run(self, text: str, stages: str = STAGES) -> LoadResult:
        pipeline = self.read(text, stages)
        load = build_load(pipeline)
        return LoadGen(build_graph(pipeline), load.scheduler, load.stop).run()


@pytest.fixture
def here(tmp_path: Path) -> Here:
    return Here(tmp_path)


MERGED = """\
pipelines:
  - name: Merged
    dataset_stage_id: 0
    loadgen: {component: single_stream, max_queries: 1}
    stages:
      - {name: Words, id: 0, outputs: [1, 2], component: stages.own.Words, config: {batch_size: 2, sorter_stage_id: 1}}
      - {name: Sort, id: 1, outputs: [3], component: stages.own.Sort}
      - {name: Doubled, id: 2, outputs: [3], component: doubling.Doubled}
      - name: End
        id: 3
        component: stages.own.Capture
        polling_policy: utils.queues.polling.MergePolicy
        config: {path: captured.jsonl}
"""


def test_branches_that_merge_are_one_query_with_the_data_of_each(here: Here) -> None:
    assert here.run(MERGED).completed == 1
    [[*_, question, data]] = captured(here.folder)
    assert (question, data) == (["b", "a"], {"1": ["a", "b"], "2": ["b", "a", "b", "a"]})


ENVELOPED = """\
pipelines:
  - name: Enveloped
    dataset_stage_id: 0
    loadgen: {component: single_stream, max_queries: 7}
    stages:
      - {id: 0, outputs: [1], component: doubling.Letters}
      - {id: 1, outputs: [2], component: stages.own.Sort}
      - {id: 2, outputs: [3], component: doubling.Count}
      - {id: 3, outputs: [4], component: stages.Stage}
      - {id: 4, component: doubling.Doubled}
"""


def test_what_stages_of_assays_kind_stream_and_score_is_the_data_of_queries(here: Here) -> None:
    result = here.run(ENVELOPED)
    assert result.completed == 7
    assert result.per_item is not None
    assert {metric.name: metric.value for metric in result.reports[0].metrics} == {"scored": 7, "right": 7}


@pytest.mark.parametrize("place", ["thread, workers: 2", "process"])
def test_each_worker_has_one_of_its_own(here: Here, place: str) -> None:
    text = ROUND.replace("component: stages.own.Sort}", f"component: stages.own.Sort, run: {place}}}")
    assert here.run(text).completed == 8
    told = captured(here.folder)
    assert {(split, batch): data for *_, split, batch, _, data in told} == {
        ("train", 0): sorted("ab" * 8),
        ("train", 1): sorted("cd" * 8),
        ("val", 0): sorted("ef" * 8),
    }


@pytest.mark.parametrize("broken", ["return query.data", "return None", "return {1: query, 4: Query()}"])
def test_what_a_run_must_return_is_said(here: Here, broken: str) -> None:
    stages = STAGES.replace("return {self._again if left else self._end: query}", broken)
    assert stages != STAGES
    reason = here.run(ROUND, stages).ending.reason
    words = "run returned several queries" if "Query()" in broken else "not {stage id: query}"
    assert reason.startswith("query 0, stage 3 (Judge): ")
    assert words in reason


def test_a_stage_that_is_not_there_cannot_be_called(here: Here) -> None:
    with pytest.raises(ValueError, match=r"dispatch_call: unknown stage 7 \(known: 0, 1, 2, 3, 4\)"):
        here.run(ROUND.replace("sorter_stage_id: 2", "sorter_stage_id: 7"))


def test_a_configuration_is_checked_without_making_them(here: Here) -> None:
    stages = STAGES.replace("self._left = {}", "raise RuntimeError('made')")
    assert stages != STAGES
    pipeline = here.read(ROUND, stages)
    with pytest.raises(RuntimeError, match="made"):
        build_graph(pipeline).setup()


def test_one_without_run_is_told_what_it_lacks(here: Here) -> None:
    lacking = "class Empty(Stage):\n    def __init__(self, stage_config, pipeline_config): ..."
    with pytest.raises(ConfigError, match="Empty does not define run, which RunStage of Assay asks for"):
        here.read(ROUND.replace("stages.own.Sort}", "stages.own.Empty}"), f"{STAGES}\n\n{lacking}\n\n\n")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("def run(self query): ...", r"cannot be imported: SyntaxError: .*line \d+\)"),
        ("1 / 0", "cannot be imported: ZeroDivisionError: division by zero"),
    ],
)
def test_a_module_that_does_not_load_is_one_problem_with_its_line(here: Here, line: str, why: str) -> None:
    with pytest.raises(ConfigError, match=rf"c.yml:\d+:\d+: pipelines\[0\].stages\[0\].component: .*{why}"):
        here.read(ROUND, f"{STAGES}\n{line}\n")


def test_which_form_a_class_has() -> None:
    class WithConfig(RunStage):
        def __init__(self, config: Any) -> None:
            super().__init__(config)

        def run(self, query: Any) -> Any: ...

    class Inherited(RunStage):
        def run(self, query: Any) -> Any: ...

    class Payload(RunStage):
        def run(self, data: Any) -> Any: ...

    class WithBoth(Payload):
        def __init__(self, stage_config: Any, pipeline_config: Any) -> None:
            super().__init__(stage_config, pipeline_config)

    assert [takes_queries(each) for each in (WithConfig, Inherited, Payload, WithBoth, NoOp)] == [
        False,
        True,
        False,
        True,
        False,
    ]
