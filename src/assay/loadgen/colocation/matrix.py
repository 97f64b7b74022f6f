from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from assay.errors import UsageError
from assay.loadgen.colocation.colocation import Colocation, GroupOutcome, folder_name
from assay.loadgen.colocation.config import ColocationConfig
from assay.loadgen.colocation.running.colocated_run import ColocatedRun
from assay.loadgen.colocation.running.group import Group, members, neighbours
from assay.loadgen.colocation.slowdown.contrast import Contrast


@dataclass(frozen=True)
class Matrix:
    """Every pipeline alone and in its groups, in one or more rounds."""

    names: tuple[str, ...]
    groups: tuple[Group, ...]
    runs: tuple[ColocatedRun, ...]
    solo: dict[str, list[GroupOutcome]]
    together: dict[Group, list[GroupOutcome]]

    @property
    def success(self) -> bool:
        return all(run.outcome.success for run in self.runs)

    @cached_property
    def contrasts(self) -> tuple[Contrast, ...]:
        return tuple(
            Contrast.of(name, neighbours(group, name), self.solo[name], self.together[group])
            for group in self.groups
            for name in dict.fromkeys(group)
        )

    def contrast(self, name: str, beside: Group) -> Contrast | None:
        """What being beside these did to the pipeline; None where they did not run together."""
        return next((c for c in self.contrasts if c.pipeline == name and sorted(c.beside) == sorted(beside)), None)


def run_matrix(
    colocation: Colocation,
    config: ColocationConfig,
    groups: Sequence[Group],
    repeat: int = 1,
    keep: Callable[[GroupOutcome], None] = lambda outcome: None,
) -> Matrix:
    """Every round runs each pipeline alone and then the groups, so that what drifts on the machine hits both. `keep`
    is told of each run when it has ended."""
    names = tuple(dict.fromkeys(name for group in groups for name in group))
    if not names:
        raise UsageError("a matrix needs at least two pipelines, or one beside a copy of itself")
    solo: dict[str, list[GroupOutcome]] = {name: [] for name in names}
    together: dict[Group, list[GroupOutcome]] = {group: [] for group in groups}
    runs = []
    for number, label, group, rounds in _plan(names, groups, repeat, solo, together):
        outcome = colocation.run(members(config, group), label)
        keep(outcome)
        runs.append(ColocatedRun(label, outcome, number))
        rounds.append(outcome)
        if not outcome.success:
            # What was measured is kept; a matrix with a pipeline that cannot run is not worth the rest of the time.
            break
    return Matrix(names, tuple(groups), tuple(runs), solo, together)


def _plan(
    names: Sequence[str],
    groups: Sequence[Group],
    repeat: int,
    solo: dict[str, list[GroupOutcome]],
    together: dict[Group, list[GroupOutcome]],
) -> Iterator[tuple[int, str, Group, list[GroupOutcome]]]:
    for number in range(1, repeat + 1):
        prefix = f"round-{number:02d}/" if repeat > 1 else ""
        for name in names:
            yield number, f"{prefix}solo-{folder_name(name)}", (name,), solo[name]
        for group in groups:
            yield number, prefix + "+".join(folder_name(name) for name in group), group, together[group]
