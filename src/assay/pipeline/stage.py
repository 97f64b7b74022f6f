from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from assay.pipeline.resources import Resources, Worker
from assay.record.metric import Metric

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
    uses: tuple[int, ...] = ()
    """Ids of the stages of its graph whose model, tokenizer or data this one takes: they are set up before it."""
    ends_cycles: bool = False
    """True: a query does not go round for ever where it lies on the way, so no stage there needs `max_visits`."""
    needs: ClassVar[frozenset[str]] = frozenset()
    adds: ClassVar[frozenset[str]] = frozenset()
    """Columns, checked when a pipeline is built."""

    def link(self, stages: Mapping[int, Stage[Any, Any]]) -> None:
        """Before set-up: the stages that it `uses`, by id, in this process."""

    def setup(self, worker: Worker) -> None:
        """Once per worker, untimed: models load here."""

    @abstractmethod
    def process(self, data: In) -> Out: ...

    def start_measuring(self) -> None:
        """The warm-up is over: what this stage has measured of its own work so far does not count."""

    def score(self, result: Any) -> None:
        """Result of one measured query, given to the data set's stage to compare with what it knows. Not timed.

        Called in the process that drives the queries, one at a time, on the object whose length was asked for."""

    def measured(self) -> Sequence[Metric]:
        """After the last call: what it alone knows of its work (a loss, an accuracy, tokens)."""
        return ()

    def notes(self) -> Sequence[str]:
        """After set-up: what a person must know to read its numbers (a device it asked for and did not get)."""
        return ()

    def teardown(self) -> None:
        """Once per worker, after the last call."""


class StreamStage(Stage[In, Iterator[Out]]):
    """Yields its results; a driver times the first one."""

    def collected(self, items: list[Out]) -> Any:
        """What the next stage of a graph is given, once the last item has come."""
        return items
