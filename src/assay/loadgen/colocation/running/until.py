from __future__ import annotations

from collections.abc import Sequence

from assay.loadgen.colocation.config import ColocationConfig, PipelineConfig

ALONE_S = 10.0
"""Length of a run of antagonists alone, where no pipeline of the file gives a duration."""


def as_run(pipelines: Sequence[PipelineConfig], file: ColocationConfig) -> tuple[PipelineConfig, ...]:
    """Pipelines as they run in this group, given the whole file.

    Beside one that is measured, an antagonist (`until: others_end`) has no bound. Among themselves each has its own:
    what it was given, or the longest duration of any pipeline of the file.
    """
    if any(pipeline.until == "own" for pipeline in pipelines):
        return tuple(_remove_bounds(pipeline) if pipeline.until == "others_end" else pipeline for pipeline in pipelines)
    longest = max((p.loadgen.duration for p in file.pipelines if p.loadgen.duration is not None), default=ALONE_S)
    return tuple(_add_bound(pipeline, longest) for pipeline in pipelines)


def _remove_bounds(pipeline: PipelineConfig) -> PipelineConfig:
    bounds = {"max_queries": None, "duration": None, "percentile": None, "min_duration": 0.0}
    return pipeline.model_copy(update={"loadgen": pipeline.loadgen.model_copy(update=bounds)})


def _add_bound(pipeline: PipelineConfig, longest: float) -> PipelineConfig:
    load = pipeline.loadgen
    if load.max_queries is None and load.duration is None and load.percentile is None and load.timeout is None:
        load = load.model_copy(update={"duration": longest})
    return pipeline.model_copy(update={"until": "own", "loadgen": load})
