from __future__ import annotations

from collections.abc import Sequence

from assay.benchmarks.colocation_metrics import stage_metrics
from assay.loadgen import Graph, LoadGen, Node, SingleStreamLoadScheduler, Stop
from assay.pipeline.stage import Stage
from assay.record.metric import Metric


class Told(Stage[int, int]):
    def process(self, data: int) -> int:
        return data

    def measured(self) -> Sequence[Metric]:
        return (Metric("loss", 0.5, "nats", "lower"),)


def test_figures_of_stages_are_named_for_their_stage_and_none_is_lost() -> None:
    names = ["a model", "twin", "twin", "→"]
    nodes = [Node(n, Told(), name, outputs=(n + 1,) if n < 3 else ()) for n, name in enumerate(names)]
    result = LoadGen(Graph.build(nodes), SingleStreamLoadScheduler(), Stop(max_queries=1)).run()
    found = list(stage_metrics("rag", result))
    assert [metric.name for metric in found] == [
        "rag.a-model.loss",
        "rag.twin-1.loss",
        "rag.twin-2.loss",
        "rag.stage-3.loss",
    ]
    assert {(metric.value, metric.unit, metric.better) for metric in found} == {(0.5, "nats", "lower")}
