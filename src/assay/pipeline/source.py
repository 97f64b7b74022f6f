from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from assay.pipeline.split import Split


class Source(ABC):
    """Where a pipeline's data comes from: cut into splits by the driver, read by the workers.

    Splits depend on the input only, never on the executor or the number of workers, so that part files are the
    same wherever a pipeline runs. The constructor takes picklable configuration and does no I/O.
    """

    name: str = "source"
    provides: frozenset[str] = frozenset()
    """Columns of the batches it reads."""

    @abstractmethod
    def splits(self) -> Sequence[Split]: ...

    @abstractmethod
    def read(self, split: Split) -> Iterator[Any]:
        """Batches of a split, in order. Runs on a worker."""

    def describe(self) -> Sequence[str]:
        """The steps a person would name, for `Pipeline.describe`."""
        return (self.name,)
