"""Push a data set through stages: a source cut into splits, a line of stages, and executors that agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.exports import exports

if TYPE_CHECKING:
    from assay.pipeline.chain import Chain, SplitResult
    from assay.pipeline.executors.executor import Executor, executor_named
    from assay.pipeline.pipeline import Pipeline, PipelineResult
    from assay.pipeline.run_stage import RunStage
    from assay.pipeline.source import Batch, ColumnBatch, FileRange, Source, Split
    from assay.pipeline.stage import CompositeStage, PipelineError, Resources, Stage, StageFailure, StreamStage, Worker
    from assay.pipeline.writer import Collector, Part, Writer

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
        "Batch": "source",
        "Chain": "chain",
        "Collector": "writer",
        "ColumnBatch": "source",
        "CompositeStage": "stage",
        "Executor": "executors.executor",
        "FileRange": "source",
        "Part": "writer",
        "Pipeline": "pipeline",
        "PipelineError": "stage",
        "PipelineResult": "pipeline",
        "Resources": "stage",
        "RunStage": "run_stage",
        "Source": "source",
        "Split": "source",
        "SplitResult": "chain",
        "Stage": "stage",
        "StageFailure": "stage",
        "StreamStage": "stage",
        "Worker": "stage",
        "Writer": "writer",
        "executor_named": "executors.executor",
    },
)
