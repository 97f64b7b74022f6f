from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from assay.errors import UsageError
from assay.loadgen.colocation.colocation import folder_name
from assay.loadgen.colocation.config import ColocationConfig, PipelineConfig
from assay.names import unknown

Group = tuple[str, ...]
"""Names of pipelines that run together; a name that is there twice means the pipeline and a copy of it."""


def pairs(config: ColocationConfig, diagonal: bool = True) -> tuple[Group, ...]:
    """Every two pipelines, and each beside a copy of itself."""
    names = [pipeline.name for pipeline in config.pipelines]
    return (*((name, name) for name in names if diagonal), *combinations(names, 2))


def parse_groups(config: ColocationConfig, words: Sequence[str]) -> tuple[Group, ...]:
    known = [pipeline.name for pipeline in config.pipelines]
    groups = []
    for word in words:
        group = tuple(name.strip() for name in word.split("+"))
        for name in group:
            if name not in known:
                raise UsageError(f"--group {word}: {unknown('pipeline', name, known)}")
        if len(group) < 2:
            raise UsageError(
                f"--group {word}: name two or more pipelines, joined by +; one named twice runs beside a copy"
            )
        groups.append(group)
    return tuple(groups)


def neighbours(group: Group, name: str) -> Group:
    """The others of the group; for a pipeline beside its copy, its own name again."""
    at = group.index(name)
    return (*group[:at], *group[at + 1 :])


def members(config: ColocationConfig, group: Group) -> list[PipelineConfig]:
    taken = {folder_name(pipeline.name) for pipeline in config.pipelines}
    found: list[PipelineConfig] = []
    for at, name in enumerate(group):
        pipeline = config.pipeline(name)
        if name in group[:at]:
            pipeline = _copy(pipeline, at, taken)
        found.append(pipeline)
    return found


def _copy(pipeline: PipelineConfig, number: int, taken: set[str]) -> PipelineConfig:
    """The same under another name, with another seed: its queries come at their own times, as another user's would."""
    name, again = f"{pipeline.name} (copy)", 2
    while folder_name(name) in taken:
        name, again = f"{pipeline.name} (copy {again})", again + 1
    taken.add(folder_name(name))
    loadgen = pipeline.loadgen.model_copy(update={"seed": pipeline.loadgen.seed + number})
    return pipeline.model_copy(update={"name": name, "loadgen": loadgen})
