from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.pipeline.query_form.query import Query
from assay.pipeline.query_form.query_numbers import QueryNumbers
from assay.pipeline.query_form.reached import Reached
from assay.pipeline.resources import Worker
from assay.pipeline.route import Routed, RouterStage
from assay.pipeline.stage import Stage, StreamStage
from assay.record.metric import Metric


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
