from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from time import time
from typing import Any
from uuid import UUID, uuid4

from assay.pipeline.run_stage import RunStage
from assay.pipeline.stage import Routed, RouterStage, Stage, StreamStage, Worker
from assay.record.metric import Metric


@dataclass
class Query:
    """What flows between stages of the colocation benchmark (docs/migrate/colocation.md): data, and what stages note of
    it.

    Stages of Assay's own see payloads only; this is for users' stages that are written as `run(query)`.
    """

    split: str = "train"
    batch: int = 0
    """Number of the batch in its split."""
    query_submitted_timestamp: float = field(default_factory=time)
    """Seconds since 1970."""
    epoch: int = 0
    query_id: UUID = field(default_factory=uuid4)
    data: Any = None
    context: dict[Any, Any] = field(default_factory=dict)
    out_flow_id: UUID | None = None

    @classmethod
    def merged(cls, queries: dict[int | None, Query]) -> Query:
        """One for the branches of a query: the first, with the data of all by the stage they come from."""
        first = next(iter(queries.values()))
        context = {key: value for query in reversed(queries.values()) for key, value in query.context.items()}
        data = {stage: query.data for stage, query in queries.items()}
        return cls(
            first.split,
            first.batch,
            first.query_submitted_timestamp,
            first.epoch,
            first.query_id,
            data,
            context,
        )


class QueryNumbers:
    """Queries from the numbers that a driver sends: split after split, batch after batch, as the data set has them."""

    def __init__(self, splits: Callable[[], Mapping[str, int]]) -> None:
        self._splits = splits

    def as_query(self, payload: Any, data: Any = None) -> Query:
        """What a stage was given, as a query: one, the branches of one, or a number, whose data is then `data`."""
        if isinstance(payload, Query):
            return payload
        if isinstance(payload, dict) and payload and all(isinstance(branch, Query) for branch in payload.values()):
            return Query.merged(payload)
        batches = self._batches
        split, batch = batches[payload % len(batches)] if batches else ("train", payload)
        return Query(split, batch, data=data)

    @cached_property
    def _batches(self) -> list[tuple[str, int]]:
        # Asked for when the first query comes: a data set may be known only once it has been prepared.
        return [(split, batch) for split, count in self._splits().items() for batch in range(count)]


class Reached(Mapping[int, Any]):
    """Stages of a pipeline whose payloads are queries, as the authors of stages know them: without what is wrapped
    around them here."""

    def __init__(self, stages: Mapping[int, Stage[Any, Any]]) -> None:
        self._stages = stages

    def __getitem__(self, stage: int) -> Any:
        found = self._stages[stage]
        return getattr(found, "reached", found)

    def __iter__(self) -> Iterator[int]:
        return iter(self._stages)

    def __len__(self) -> int:
        return len(self._stages)


class EnvelopedStage(RouterStage[Any, Any]):
    """A stage that takes payloads, beside users' stages that take queries: it is given a query's data, and the query
    goes on with what it returns."""

    def __init__(self, inner: Stage[Any, Any], numbers: QueryNumbers) -> None:
        self.reached = inner
        self._numbers = numbers
        self.name = inner.name
        self.resources = inner.resources
        self.stateful = inner.stateful
        self.uses = inner.uses
        self.ends_cycles = inner.ends_cycles

    def link(self, stages: Mapping[int, Stage[Any, Any]]) -> None:
        self.reached.link(Reached(stages))

    def setup(self, worker: Worker) -> None:
        self.reached.setup(worker)

    def __len__(self) -> int:
        return len(self.reached)  # type: ignore[arg-type]

    def process(self, data: Any) -> Any:
        query = self._numbers.as_query(data, data)
        result = self.reached.process(query.data)
        if isinstance(result, Routed):
            query.data = result.payload
            return Routed(query, result.to)
        query.data = result
        return query

    def score(self, result: Any) -> None:
        branches = result if isinstance(result, tuple) else (result,)
        data = tuple(branch.data if isinstance(branch, Query) else branch for branch in branches)
        self.reached.score(data[0] if len(data) == 1 else data)

    def start_measuring(self) -> None:
        self.reached.start_measuring()

    def measured(self) -> Sequence[Metric]:
        return self.reached.measured()

    def notes(self) -> Sequence[str]:
        return self.reached.notes()

    def teardown(self) -> None:
        self.reached.teardown()


class EnvelopedStream(EnvelopedStage, StreamStage[Any, Any]):
    """One call at a time, as of any stage: `collected` ends the call that `process` began."""

    reached: StreamStage[Any, Any]

    def process(self, data: Any) -> Any:
        self._query: Query = self._numbers.as_query(data, data)
        return self.reached.process(self._query.data)

    def collected(self, items: list[Any]) -> Any:
        self._query.data = self.reached.collected(items)
        return self._query


def envelop(stage: Stage[Any, Any], numbers: QueryNumbers) -> EnvelopedStage:
    return (EnvelopedStream if isinstance(stage, StreamStage) else EnvelopedStage)(stage, numbers)


_REFERENCES = ("_stage_id", "depends_on_id")
"""Endings of the keys by which a stage's configuration names another stage."""


class QueryStage(RouterStage[Any, Any]):
    """A user's stage that takes a `Query` and returns `{id of the next stage: query}`.

    It is made in the process that runs it, not when the configuration is checked: such constructors load models.
    """

    def __init__(self, component: type[RunStage], stage_config: Any, pipeline_config: Any) -> None:
        self._component = component
        self._configs = (stage_config, pipeline_config)
        self._outputs = tuple(stage_config.outputs)
        self._made: RunStage | None = None
        self._stages: Mapping[int, Stage[Any, Any]] = {}
        self._numbers = QueryNumbers(dict)
        self.name = stage_config.name
        # Where it sends a query is its own business, and so is when it stops sending it round.
        self.ends_cycles = len(self._outputs) > 1

    def connect(self, stages: Mapping[int, Stage[Any, Any]], numbers: QueryNumbers) -> None:
        """All stages of its pipeline, which it may call. Those that it names and that are not of its kind are set up
        before it."""
        self._stages, self._numbers = stages, numbers
        named = [value for key, value in self._configs[0].config.items() if key.endswith(_REFERENCES)]
        self.uses = tuple(id for id in dict.fromkeys(named) if id in stages and not isinstance(stages[id], QueryStage))

    @property
    def reached(self) -> RunStage:
        """The user's object, made when it is first asked for: another may call it before it is set up."""
        if self._made is None:
            self._made = self._component(*self._configs)
            self._made.set_stage_dict(Reached(self._stages))
        return self._made

    def setup(self, worker: Worker) -> None:
        self.reached.prepare()
        self.reached.pre_run()

    def teardown(self) -> None:
        if self._made is not None:
            self._made.post_run()

    def __len__(self) -> int:
        return sum(self.reached.get_dataset_splits().values())

    def process(self, data: Any) -> Any:
        query = self._numbers.as_query(data)
        sent = self.reached.run(query)
        if not isinstance(sent, Mapping):
            raise TypeError(f"run returned {type(sent).__name__}, not {{stage id: query}}")
        kept = next(iter(sent.values()), query)
        if any(each is not kept for each in sent.values()):
            raise ValueError("run returned several queries, and what a query becomes here is one")
        targets = tuple(target for target in sent if target != -1)
        return kept if -1 in sent or targets == self._outputs else Routed(kept, targets)

    def __deepcopy__(self, memo: dict[int, Any]) -> QueryStage:
        """A stage for another worker: made anew, in the same pipeline."""
        again = QueryStage(self._component, *self._configs)
        again._stages, again._numbers, again.uses = self._stages, self._numbers, self.uses
        return again

    def __getstate__(self) -> dict[str, Any]:
        """What goes to a process of its own, from which the other stages cannot be reached."""
        return {**self.__dict__, "_made": None, "_stages": {}, "_numbers": QueryNumbers(dict)}
