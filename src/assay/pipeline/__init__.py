"""Push a data set through stages: a source cut into splits, a line of stages, and executors that agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.exports import exports

if TYPE_CHECKING:
    from assay.pipeline.batch import Batch, ColumnBatch
    from assay.pipeline.chain import Chain, SplitResult
    from assay.pipeline.collector import Collector
    from assay.pipeline.composite import CompositeStage
    from assay.pipeline.executors.executor import Executor
    from assay.pipeline.executors.registry import executor_named
    from assay.pipeline.failure import PipelineError, StageFailure
    from assay.pipeline.pipeline import Pipeline, PipelineResult
    from assay.pipeline.resources import Resources, Worker
    from assay.pipeline.run_stage import RunStage
    from assay.pipeline.source import Source
    from assay.pipeline.split import FileRange, Split
    from assay.pipeline.stage import Stage, StreamStage
    from assay.pipeline.writer import Part, Writer

__all__ = [
    "Batch",
    "Chain",
    "Collector",
    "ColumnBatch",
    "CompositeStage",
    "Executor",
    "FileRange",
    "Part",
    "Pipeline",
    "PipelineError",
    "PipelineResult",
    "Resources",
    "RunStage",
    "Source",
    "Split",
    "SplitResult",
    "Stage",
    "StageFailure",
    "StreamStage",
    "Worker",
    "Writer",
    "executor_named",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "Batch": "batch",
        "Chain": "chain",
        "Collector": "collector",
        "ColumnBatch": "batch",
        "CompositeStage": "composite",
        "Executor": "executors.executor",
        "FileRange": "split",
        "Part": "writer",
        "Pipeline": "pipeline",
        "PipelineError": "failure",
        "PipelineResult": "pipeline",
        "Resources": "resources",
        "RunStage": "run_stage",
        "Source": "source",
        "Split": "split",
        "SplitResult": "chain",
        "Stage": "stage",
        "StageFailure": "failure",
        "StreamStage": "stage",
        "Worker": "resources",
        "Writer": "writer",
        "executor_named": "executors.registry",
    },
)
