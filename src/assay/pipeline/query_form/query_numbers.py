from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from assay.pipeline.query_form.query import Query


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
