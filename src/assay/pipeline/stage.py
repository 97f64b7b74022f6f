from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Generic, TypeVar

from assay.pipeline.resources import Resources, Worker

In = TypeVar("In")
Out = TypeVar("Out")


class Stage(ABC, Generic[In, Out]):
    """A step that turns one thing into one thing.

    The constructor takes picklable configuration and does no I/O. Stages see payloads only: drivers own
    envelopes, clocks and ids, so the same stage serves a pipeline over a data set and a stream of queries.
    """

    name: str = ""
    resources: Resources = Resources(cpus=1)
    batch_size: int | None = None
    """Rows a call; None takes batches as they come."""
    stateful: bool = False
    """True: one replica, called in order (an optimiser)."""
    needs: ClassVar[frozenset[str]] = frozenset()
    adds: ClassVar[frozenset[str]] = frozenset()
    """Columns, checked when a pipeline is built."""

    def setup(self, worker: Worker) -> None:
        """Once per worker, untimed: models load here."""

    @abstractmethod
    def process(self, data: In) -> Out: ...

    def teardown(self) -> None:
        """Once per worker, after the last call."""


class StreamStage(Stage[In, Iterator[Out]]):
    """Yields its results; a driver times the first one."""
