from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from assay.analysis.colocation.colocation_result import ColocationResult
from assay.analysis.colocation.group_run import GroupRun
from assay.analysis.colocation.kept_contrast import KeptContrast
from assay.analysis.colocation.slowdown_estimate import original
from assay.analysis.colocation.stage_window import StageWindow


@dataclass(frozen=True)
class StageSides:
    """A pipeline's stages alone and in one company: over the same windows where the two were contrasted, otherwise each
    over its own, and it says which."""

    alone: tuple[StageWindow, ...]
    alone_queries: int
    alone_basis: str
    together: tuple[StageWindow, ...]
    together_queries: int
    together_basis: str

    @classmethod
    def of(cls, result: ColocationResult, members: Sequence[str], name: str, *, queries: bool = False) -> StageSides:
        """`queries`: only of stretches in which queries were counted, not calls of stages alone."""
        contrast = result.contrast(name, members)
        if contrast is not None and (contrast.together.queries or not queries):
            return _of_contrast(contrast)
        # A copy is compared with what it is a copy of.
        alone = _of_runs(result.alone(original(name)), original(name))
        return cls(*alone, *_of_runs(result.rounds(tuple(members)), name))

    def of_stage(self, id: int) -> tuple[list[StageWindow], list[StageWindow]]:
        """Alone and together; of several rounds one each."""
        sides = (self.alone, self.together)
        alone, together = ([one for one in side if one.id == id and one.calls] for side in sides)
        return alone, together


def _of_contrast(contrast: KeptContrast) -> StageSides:
    alone, together = contrast.alone, contrast.together
    if contrast.paired:
        # Calls of stages can be the same where no whole query lies in a window.
        counted, of_what = together.queries, "queries"
        if not counted:
            counted, of_what = max(stage.calls for stage in together.stages), "calls"
        same = f"the same {counted:,} {of_what}"
        return StageSides(
            alone.stages, alone.queries, same, together.stages, together.queries, f"{same}, {together.seconds:.3g} s"
        )
    return StageSides(
        alone.stages, alone.queries, _basis(alone.queries, alone.seconds),
        together.stages, together.queries, _basis(together.queries, together.seconds),
    )  # fmt: skip


def _of_runs(runs: Sequence[GroupRun], name: str) -> tuple[tuple[StageWindow, ...], int, str]:
    ran = [one for run in runs if (one := run.of(name))]
    seconds = [one.window.seconds for one in ran if one.window.seconds is not None]
    queries = sum(one.window.completed for one in ran)
    if len(seconds) > 1:
        basis = f"{queries:,} queries in {len(seconds)} rounds of about {median(seconds):.3g} s"
    else:
        basis = _basis(queries, sum(seconds)) if seconds else ""
    return tuple(stage for one in ran for stage in one.stages), queries, basis


def _basis(queries: int, seconds: float) -> str:
    return f"{queries:,} {'query' if queries == 1 else 'queries'} in {seconds:.3g} s"
