from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from assay.errors import AssayError
from assay.pipeline.source import Split
from assay.record.metric import Metric


@dataclass(frozen=True)
class Resources:
    """What a stage asks for. What it used is a `Usage`."""

    cpus: float = 1.0
    gpus: float = 0.0
    memory_mb: int | None = None


@dataclass(frozen=True)
class Worker:
    """Where a stage is set up: which replica of how many, and the device it may use."""

    index: int = 0
    count: int = 1
    device: str = "cpu"
    training: bool | None = None
    """Whether the load is training; None leaves it to the data (a batch of a split named train)."""


class PipelineError(AssayError):
    """A pipeline that cannot be built or run as asked."""


class StageFailure(PipelineError):
    """A stage raised something it did not foresee: the message names the stage and the data it was given."""

    exit_code = 1

    @classmethod
    def at(cls, stage: str, split: Split, error: BaseException) -> StageFailure:
        return cls(f"stage {stage} failed on {split}: {type(error).__name__}: {error}")


def portable(error: Exception, doing: str) -> AssayError:
    """The same error where it survives a trip between processes, otherwise its message."""
    if not isinstance(error, AssayError):
        return StageFailure(f"{doing}: {type(error).__name__}: {error}")
    import pickle  # a run that goes well starts without it

    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  (our own bytes)
    except Exception:  # noqa: BLE001  (any failure to pickle is the same to us)
        return PipelineError(str(error))
    return error


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


@dataclass(frozen=True, slots=True)
class Routed(Generic[Out]):
    """A payload and the stages it goes to next, by id or name: any of the outputs of the stage that returns it."""

    payload: Out
    to: tuple[int | str, ...]


class RouterStage(Stage[In, Routed[Out]]):
    """Decides which of its outputs a payload takes. Only graphs of stages have more than one."""


class CompositeStage(Stage[In, Out]):
    """Several stages under one name. A pipeline replaces it with what it expands to."""

    @abstractmethod
    def expand(self) -> Sequence[Stage[Any, Any]]: ...

    def process(self, data: In) -> Out:
        raise TypeError(f"{self.name} is composite: a pipeline runs the stages it expands to")


def expand_stages(stages: Iterable[Stage[Any, Any]]) -> list[Stage[Any, Any]]:
    flat: list[Stage[Any, Any]] = []
    for stage in stages:
        flat.extend(expand_stages(stage.expand()) if isinstance(stage, CompositeStage) else [stage])
    return flat
