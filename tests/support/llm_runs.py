"""Pipelines of language models, run in this process."""

from __future__ import annotations

from typing import Any

from assay.loadgen import Graph, LoadGen, Node, SingleStreamLoadScheduler, Stop, Warmup
from assay.loadgen.load_result import LoadResult
from assay.pipeline.stage import Stage, Worker
from assay.stages.llm_huggingface import HuggingFaceDataLoader


def run(*nodes: Node, queries: int, warmup: int = 0, keep: list[Any] | None = None) -> LoadResult:
    """Stage 0 holds the data."""
    return LoadGen(
        Graph.build(nodes, dataset=0),
        SingleStreamLoadScheduler(),
        Stop(max_queries=queries),
        warmup=Warmup(queries=warmup) if warmup else None,
        keep=None if keep is None else lambda _, result: keep.append(result),
    ).run()


def figures(result: LoadResult, stage: int) -> dict[str, Any]:
    return {metric.name: metric.value for metric in result.reports[stage].metrics}


def set_up(stage: Any, *, training: bool | None = None, **links: Stage[Any, Any]) -> Any:
    """Sets a stage up by hand, with the stages it uses given by their ids: `stage_1=...`."""
    stage.link({int(name.removeprefix("stage_")): each for name, each in links.items()})
    stage.setup(Worker(training=training))
    return stage


def loader(user: Stage[Any, Any] | None = None, **keys: Any) -> Any:
    """A data loader for that stage, set up."""
    if user is None:
        return set_up(HuggingFaceDataLoader(**keys))
    return set_up(HuggingFaceDataLoader(tokenizer_stage_id=1, **keys), stage_1=user)
