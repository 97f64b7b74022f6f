"""A data set that knows the right answers is told what came out of each query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from assay.loadgen import Graph, LoadGen, Node, SingleStreamLoadScheduler, Stop, Warmup
from assay.pipeline.stage import Stage, Worker
from assay.record.metric import Metric


class Numbers(Stage[int, int]):
    name = "numbers"

    def setup(self, worker: Worker) -> None:
        self.seen: list[Any] = []

    def __len__(self) -> int:
        return 4

    def process(self, data: int) -> int:
        return data

    def score(self, result: Any) -> None:
        self.seen.append(result)

    def measured(self) -> Sequence[Metric]:
        return (Metric("sum", sum(self.seen)), Metric("scored", len(self.seen)))


class Tenfold(Stage[int, int]):
    name = "tenfold"

    def process(self, data: int) -> int:
        return data * 10


class Confused(Numbers):
    def score(self, result: Any) -> None:
        raise KeyError("no such question")


def loaded(stage: Numbers, place: str, end: str) -> Graph:
    nodes = [
        Node(0, stage, outputs=(1,), place=place),  # type: ignore[arg-type]
        Node(1, Tenfold(), place=end),  # type: ignore[arg-type]
    ]
    return Graph.build(nodes, dataset=0)


@pytest.mark.parametrize(
    ("place", "end"), [("inline", "inline"), ("inline", "thread"), ("thread", "inline"), ("process", "inline")]
)
def test_the_data_set_scores_every_measured_result_and_no_other(place: str, end: str) -> None:
    result = LoadGen(
        loaded(Numbers(), place, end), SingleStreamLoadScheduler(), Stop(max_queries=6), warmup=Warmup(queries=3)
    ).run()
    assert {m.name: m.value for m in result.reports[0].metrics} == {"sum": (0 + 1 + 2 + 3 + 0 + 1) * 10, "scored": 6}


def test_results_are_still_kept_for_who_asked_for_them() -> None:
    kept: list[Any] = []
    graph = loaded(Numbers(), "inline", "inline")
    result = LoadGen(
        graph, SingleStreamLoadScheduler(), Stop(max_queries=3), keep=lambda _, result: kept.append(result)
    ).run()
    assert kept == [0, 10, 20]
    assert {m.name: m.value for m in result.reports[0].metrics}["sum"] == 30


@pytest.mark.parametrize("end", ["inline", "thread"])
def test_scoring_that_fails_loses_only_the_score(end: str) -> None:
    result = LoadGen(loaded(Confused(), "inline", end), SingleStreamLoadScheduler(), Stop(max_queries=3)).run()
    assert result.completed == 3
    assert result.warnings == ["stage 0 (numbers): 3 results could not be scored: KeyError: 'no such question'"]
