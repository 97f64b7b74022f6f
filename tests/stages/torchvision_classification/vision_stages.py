"""Stages of this family, set up as a pipeline sets them up."""

from __future__ import annotations

from typing import Any

from assay.loadgen import Graph, LoadGen, LoadResult, SingleStreamLoadScheduler, Stop, Warmup
from assay.pipeline.stage import Worker
from assay.stages.torchvision_classification import TorchVisionClassification, TorchVisionDataLoader

SMALL = {"images": 160, "num_classes": 4}
"""128 images to train on and 32 to be judged by, 32 × 32 pixels."""


def loader(training: bool | None = None, **keys: Any) -> TorchVisionDataLoader:
    stage = TorchVisionDataLoader(**{"dataset": SMALL, **keys})
    stage.setup(Worker(training=training))
    stage.start_measuring()
    return stage


def classification(training: bool | None = None, **keys: Any) -> TorchVisionClassification:
    stage = TorchVisionClassification(**{"model": {"name": "timm/test_convnext", "num_classes": 4}, **keys})
    stage.setup(Worker(training=training))
    return stage


def run(
    stages: list[Any], queries: int, training: bool | None = None, warmup: Warmup | None = None, **keys: Any
) -> LoadResult:
    graph = Graph.chain(stages, dataset=True)
    load = LoadGen(
        graph, SingleStreamLoadScheduler(), Stop(max_queries=queries), training=training, warmup=warmup, **keys
    )
    return load.run()


def figures(result: LoadResult, stage: int) -> dict[str, Any]:
    return {metric.name: metric for metric in result.reports[stage].metrics}
