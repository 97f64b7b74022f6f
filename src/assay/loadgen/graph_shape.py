from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from assay.names import quote, unknown

Join = Literal["first", "merge", "each"]
"""What a stage with several inputs does: run on the first that comes and ignore the rest; wait for all of a query and
run once on `{stage id: payload}`; run on each."""


@dataclass(frozen=True)
class StageShape:
    id: int
    name: str
    outputs: tuple[int, ...] = ()
    join: Join | None = None
    max_visits: int | None = None
    stateful: bool = False
    workers: int = 1
    uses: tuple[int, ...] = ()
    ends_cycles: bool = False
    apart: bool = False
    """It runs in processes of its own, where nothing that another stage has loaded can be reached."""


@dataclass(frozen=True)
class GraphProblem:
    """`path` leads to the value in the pipeline's document, so that whoever read it can name the line."""

    path: tuple[str | int, ...]
    message: str


@dataclass(frozen=True)
class GraphShape:
    stages: tuple[StageShape, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    dataset_stage_id: int | None = None

    def problems(self) -> list[GraphProblem]:
        found = [*self._duplicates(), *self._nowhere()]
        # Where an id is missing or there twice, the other checks would only say the same in other words.
        return found or [*self._unreachable(), *self._joins(), *self._cycles(), *self._replicas(), *self._uses()]

    def _duplicates(self) -> Iterable[GraphProblem]:
        seen: dict[int, str] = {}
        for at, stage in enumerate(self.stages):
            if stage.id in seen:
                yield GraphProblem(("stages", at, "id"), f"id {stage.id} is already the id of {seen[stage.id]!r}")
            seen.setdefault(stage.id, stage.name)

    def _nowhere(self) -> Iterable[GraphProblem]:
        known = {stage.id for stage in self.stages}
        for key, ids in (("inputs", self.inputs), ("outputs", self.outputs)):
            for at, target in enumerate(ids):
                if target not in known:
                    yield GraphProblem((key, at), unknown("stage", target, sorted(known)))
        if not self.inputs:
            yield GraphProblem(("inputs",), "no stage takes the queries: every stage has another before it")
        for at, stage in enumerate(self.stages):
            for nth, target in enumerate(stage.outputs):
                if target not in known:
                    yield GraphProblem(
                        ("stages", at, "outputs", nth), f"leads to {unknown('stage', target, sorted(known))}"
                    )
                elif target in stage.outputs[:nth]:
                    yield GraphProblem(("stages", at, "outputs", nth), f"leads to stage {target} twice")
        if self.dataset_stage_id is not None and self.dataset_stage_id not in known:
            yield GraphProblem(("dataset_stage_id",), unknown("stage", self.dataset_stage_id, sorted(known)))

    def _unreachable(self) -> Iterable[GraphProblem]:
        reached = reachable(self.inputs, self.edges)
        for at, stage in enumerate(self.stages):
            if stage.id not in reached:
                yield GraphProblem(
                    ("stages", at),
                    f"stage {stage.id} ({stage.name}) cannot be reached from the inputs {list(self.inputs)}",
                )

    def _joins(self) -> Iterable[GraphProblem]:
        for at, stage in enumerate(self.stages):
            entries = len(self.entering(stage.id))
            if entries > 1 and stage.join is None:
                yield GraphProblem(
                    ("stages", at),
                    f"stage {stage.id} ({stage.name}) has {entries} inputs and no policy: "
                    "add `join: first`, `join: merge` (by query id) or `join: each`",
                )
            if stage.join == "merge" and self.in_cycle(stage.id):
                yield GraphProblem(
                    ("stages", at, "join"), "a stage inside a cycle cannot merge: which round would it wait for?"
                )

    def _cycles(self) -> Iterable[GraphProblem]:
        bounded = {stage.id for stage in self.stages if stage.max_visits is not None or stage.ends_cycles}
        open_edges = {
            source: tuple(target for target in targets if target not in bounded)
            for source, targets in self.edges.items()
            if source not in bounded
        }
        for at, stage in enumerate(self.stages):
            if stage.id not in bounded and stage.id in reachable(open_edges.get(stage.id, ()), open_edges):
                yield GraphProblem(
                    ("stages", at),
                    f"stage {stage.id} ({stage.name}) is in a cycle without a bound: add `max_visits: N`",
                )
                return

    def _replicas(self) -> Iterable[GraphProblem]:
        for at, stage in enumerate(self.stages):
            if stage.stateful and stage.workers > 1:
                yield GraphProblem(
                    ("stages", at, "workers"), f"stage {stage.id} ({stage.name}) keeps state: it can have one"
                )

    def _uses(self) -> Iterable[GraphProblem]:
        known = {stage.id: stage for stage in self.stages}
        odd = [(at, used) for at, stage in enumerate(self.stages) for used in stage.uses if type(used) is not int]
        for at, used in odd:
            yield GraphProblem(("stages", at, "config"), f"uses stage {quote(used)}, which is no number of a stage")
        if odd:
            return
        for at, stage in enumerate(self.stages):
            for used in stage.uses:
                if used not in known:
                    yield GraphProblem(("stages", at, "config"), f"uses {unknown('stage', used, sorted(known))}")
                elif stage.apart or known[used].apart:
                    yield GraphProblem(
                        ("stages", at, "run"),
                        f"stage {stage.id} ({stage.name}) uses what stage {used} ({known[used].name}) has loaded, so "
                        "neither can be in a process of its own: `run: inline` or `run: thread`",
                    )
        if self.set_up_order() is None:
            circle = next(s.id for s in self.stages if s.id in reachable(s.uses, {x.id: x.uses for x in self.stages}))
            yield GraphProblem(("stages",), f"stage {circle} uses a stage that in turn uses it: which is set up first?")

    def set_up_order(self) -> list[int] | None:
        """Ids, each after those it uses; None where two use each other."""
        waiting = {stage.id: {used for used in stage.uses if used != stage.id} for stage in self.stages}
        order: list[int] = []
        while waiting:
            free = [stage for stage, uses in waiting.items() if not uses & waiting.keys()]
            if not free:
                return None
            order += free
            for stage in free:
                del waiting[stage]
        return order

    @property
    def edges(self) -> dict[int, tuple[int, ...]]:
        return {stage.id: stage.outputs for stage in self.stages}

    def in_cycle(self, stage: int) -> bool:
        return stage in reachable(self.edges[stage], self.edges)

    def entering(self, stage: int) -> list[int | None]:
        """Where a query can first come from: stages, and None for the load generator. Edges back are not counted."""
        downstream = reachable(self.edges[stage], self.edges)
        sources: list[int | None] = [s.id for s in self.stages if stage in s.outputs and s.id not in downstream]
        return [*([None] if stage in self.inputs else []), *sources]


def reachable(start: Iterable[int], edges: Mapping[int, tuple[int, ...]]) -> set[int]:
    reached: set[int] = set()
    waiting = list(start)
    while waiting:
        stage = waiting.pop()
        if stage not in reached:
            reached.add(stage)
            waiting.extend(edges.get(stage, ()))
    return reached
