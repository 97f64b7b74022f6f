from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from assay.loadgen import Graph, LoadGen, Node, SingleStreamLoadScheduler, Stop, Warmup
from assay.loadgen.load_result import MOST_SAMPLES, StageReport
from assay.pipeline.stage import Stage, StreamStage, Worker
from assay.record.metric import Metric


class Counting(Stage[Any, Any]):
    name = "counting"

    def setup(self, worker: Worker) -> None:
        self.calls = 0
        self.training = worker.training

    def process(self, data: Any) -> Any:
        self.calls += 1
        return data

    def start_measuring(self) -> None:
        self.calls = 0

    def measured(self) -> Sequence[Metric]:
        return (Metric("calls", self.calls, unit="1"),)

    def notes(self) -> Sequence[str]:
        return (f"training: {self.training}",)


class Borrowing(Stage[Any, Any]):
    """Uses the stage 1 that comes after it."""

    name = "borrowing"
    uses = (1,)

    def link(self, stages: Mapping[int, Stage[Any, Any]]) -> None:
        self.model: Any = stages[1]

    def setup(self, worker: Worker) -> None:
        self.calls_at_set_up = self.model.calls  # There only if stage 1 was set up before.

    def process(self, data: Any) -> Any:
        return id(self.model)


class Summed(StreamStage[int, int]):
    name = "summed"

    def process(self, data: int) -> Any:
        yield from range(data)

    def collected(self, items: list[int]) -> Any:
        return sum(items)


class Failing(Counting):
    def measured(self) -> Sequence[Metric]:
        raise ValueError("no figures")


@pytest.mark.parametrize("place", ["inline", "thread", "process"])
def test_a_stage_tells_of_the_measured_part_alone(place: str):
    graph = Graph.build([Node(0, Counting(), place=place)])  # type: ignore[arg-type]
    result = LoadGen(
        graph, SingleStreamLoadScheduler(), Stop(max_queries=5), warmup=Warmup(queries=3), training=True
    ).run()
    (metric,) = result.reports[0].metrics
    assert (metric.name, metric.value) == ("calls", 5)
    assert "stage 0 (counting): training: True" in result.warnings
    assert result.to_json()["stages"][0]["report"]["metrics"] == {"calls": {"value": 5, "unit": "1"}}


def test_workers_of_a_stage_are_told_apart():
    graph = Graph.build([Node(0, Counting(), place="thread", workers=2)])
    result = LoadGen(graph, SingleStreamLoadScheduler(), Stop(max_queries=8)).run()
    figures = {m.name: m.value for m in result.reports[0].metrics}
    assert figures.keys() == {"worker_0.calls", "worker_1.calls"}
    assert sum(figures.values()) == 8


def test_a_stage_that_cannot_tell_loses_only_its_figures():
    result = LoadGen(Graph.chain([Failing()]), SingleStreamLoadScheduler(), Stop(max_queries=2)).run()
    assert result.completed == 2
    assert result.warnings == ["stage 0 (counting): its own figures cannot be had: ValueError: no figures"]


@pytest.mark.parametrize("place", ["inline", "thread"])
def test_a_stage_uses_the_very_object_that_another_place_of_the_graph_runs(place: str):
    seen: list[Any] = []
    model = Counting()
    graph = Graph.build([Node(0, Borrowing(), outputs=(1,)), Node(1, model, place=place)])  # type: ignore[arg-type]
    LoadGen(graph, SingleStreamLoadScheduler(), Stop(max_queries=2), keep=lambda _, result: seen.append(result)).run()
    assert seen == [id(model)] * 2
    assert model.calls == 2


@pytest.mark.parametrize("place", ["inline", "thread", "process"])
def test_what_a_stream_comes_to_is_what_the_next_stage_gets(place: str):
    seen: list[Any] = []
    graph = Graph.build([Node(0, Summed(), outputs=(1,), place=place), Node(1, Counting())])  # type: ignore[arg-type]
    LoadGen(graph, SingleStreamLoadScheduler(), Stop(max_queries=4), keep=lambda _, result: seen.append(result)).run()
    assert seen == [0, 0, 1, 3]


def test_long_series_are_thinned_on_their_way_into_a_file():
    report = StageReport((Metric("loss", 1.0, samples=tuple(map(float, range(3 * MOST_SAMPLES + 1)))),))
    read = StageReport.from_json(report.to_json())
    assert len(read.metrics[0].samples) <= MOST_SAMPLES
    assert read.metrics[0].samples[:2] == (0.0, 4.0)


class Opened(Stage[Any, Any]):
    """Closes what it has opened."""

    def __init__(self, good: bool = True) -> None:
        self.good = good

    def setup(self, worker: Worker) -> None:
        if not self.good:
            raise ValueError("no such file")
        self.file = ["open"]

    def process(self, data: Any) -> Any:
        return data

    def teardown(self) -> None:
        self.file[0] = "closed"


@pytest.mark.parametrize("place", ["inline", "thread", "process"])
def test_a_stage_that_was_not_set_up_is_not_torn_down(place: str):
    first = Opened()
    nodes = [
        Node(0, first, outputs=(1,)),
        Node(1, Opened(good=False), outputs=(2,), place=place),  # type: ignore[arg-type]
        Node(2, Opened(), place=place),  # type: ignore[arg-type]
    ]
    with pytest.raises((ValueError, RuntimeError), match="no such file"):
        LoadGen(Graph.build(nodes), SingleStreamLoadScheduler(), Stop(max_queries=2)).run()
    assert first.file == ["closed"]
