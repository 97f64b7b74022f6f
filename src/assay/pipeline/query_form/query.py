from __future__ import annotations

from dataclasses import dataclass, field
from time import time
from typing import Any
from uuid import UUID, uuid4


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
