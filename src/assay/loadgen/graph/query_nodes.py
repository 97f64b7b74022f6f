from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.loadgen.graph.node import Node
from assay.pipeline.query_form.enveloped_stage import envelop
from assay.pipeline.query_form.query_numbers import QueryNumbers
from assay.pipeline.query_form.query_stage import QueryStage
from assay.pipeline.stage import Stage


def with_queries(nodes: Sequence[Node], dataset: int | None) -> list[Node]:
    """The nodes as they are, or, where a user's stage takes queries, all of them with queries as payloads."""
    if not any(isinstance(node.stage, QueryStage) for node in nodes):
        return list(nodes)
    stages: dict[int, Stage[Any, Any]] = {}
    numbers = QueryNumbers(lambda: _splits(stages, dataset))
    for node in nodes:
        stages[node.id] = node.stage if isinstance(node.stage, QueryStage) else envelop(node.stage, numbers)
    for stage in stages.values():
        if isinstance(stage, QueryStage):
            stage.connect(stages, numbers)
    return [replace(node, stage=stages[node.id]) for node in nodes]


def _splits(stages: Mapping[int, Stage[Any, Any]], dataset: int | None) -> dict[str, int]:
    stage = None if dataset is None else stages[dataset]
    if isinstance(stage, QueryStage):
        return stage.reached.get_dataset_splits()
    return {} if stage is None else {"train": len(stage)}  # type: ignore[arg-type]
