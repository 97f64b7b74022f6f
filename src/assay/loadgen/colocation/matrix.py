from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from assay.errors import UsageError
from assay.loadgen.colocation.colocation import Colocation, GroupOutcome, folder_name
from assay.loadgen.colocation.config import ColocationConfig
from assay.loadgen.colocation.slowdown import Slices, Slowdown, slowdown
from assay.names import unknown

Group = tuple[str, ...]


@dataclass(frozen=True)
class Matrix:
    """`cells[pipeline, group]`: what being in that group did to the pipeline, against running alone."""

    names: tuple[str, ...]
    groups: tuple[Group, ...]
    cells: dict[tuple[str, Group], Slowdown]
    solo: dict[str, list[GroupOutcome]]
    together: dict[Group, list[GroupOutcome]]

    @property
    def success(self) -> bool:
        runs = [*self.solo.values(), *self.together.values()]
        return all(outcome.success for rounds in runs for outcome in rounds)

    def beside(self, name: str, neighbour: str) -> Slowdown | None:
        """The cell of an N × N matrix: a pipeline in the row, its one neighbour in the column."""
        return next(
            (self.cells[name, g] for g in self.groups if set(g) == {name, neighbour} and (name, g) in self.cells), None
        )


def pairs(config: ColocationConfig) -> tuple[Group, ...]:
    return tuple(combinations((pipeline.name for pipeline in config.pipelines), 2))


def parse_groups(config: ColocationConfig, words: Sequence[str]) -> tuple[Group, ...]:
    known = [pipeline.name for pipeline in config.pipelines]
    groups = []
    for word in words:
        group = tuple(name.strip() for name in word.split("+"))
        for name in group:
            if name not in known:
                raise UsageError(f"--group {word}: {unknown('pipeline', name, known)}")
        if len(set(group)) < 2 or len(set(group)) != len(group):
            raise UsageError(f"--group {word}: name two or more different pipelines, joined by +")
        groups.append(group)
    return tuple(groups)


def run_matrix(colocation: Colocation, config: ColocationConfig, groups: Sequence[Group], repeat: int = 1) -> Matrix:
    """Every round runs each pipeline alone and then the groups, so that what drifts on the machine hits both."""
    names = tuple(dict.fromkeys(name for group in groups for name in group))
    if not names:
        raise UsageError("a matrix needs at least two pipelines")
    solo: dict[str, list[GroupOutcome]] = {name: [] for name in names}
    together: dict[Group, list[GroupOutcome]] = {group: [] for group in groups}
    for label, members, rounds in _plan(names, groups, repeat, solo, together):
        outcome = colocation.run([config.pipeline(name) for name in members], label)
        rounds.append(outcome)
        if not outcome.success:
            # What was measured is kept; a matrix with a pipeline that cannot run is not worth the rest of the time.
            break
    cells = {}
    for group in groups:
        for name in group:
            alone = [Slices.of(outcome[name], outcome.window) for outcome in solo[name]]
            beside = [Slices.of(outcome[name], outcome.window) for outcome in together[group]]
            if alone and beside:
                cells[name, group] = slowdown(alone, beside)
    return Matrix(names, tuple(groups), cells, solo, together)


def _plan(
    names: Sequence[str],
    groups: Sequence[Group],
    repeat: int,
    solo: dict[str, list[GroupOutcome]],
    together: dict[Group, list[GroupOutcome]],
) -> Iterator[tuple[str, Group, list[GroupOutcome]]]:
    for number in range(1, repeat + 1):
        prefix = f"round-{number:02d}/" if repeat > 1 else ""
        for name in names:
            yield f"{prefix}solo-{folder_name(name)}", (name,), solo[name]
        for group in groups:
            yield prefix + "+".join(folder_name(name) for name in group), group, together[group]
