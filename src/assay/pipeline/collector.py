from __future__ import annotations

from abc import abstractmethod
from typing import Generic, TypeVar

from assay.pipeline.split import Split
from assay.pipeline.stage import Stage

In = TypeVar("In")
Result = TypeVar("Result")


class Collector(Stage[In, None], Generic[In, Result]):
    """The last stage of a pipeline: takes every batch of a split and gives one result for the split.

    Only that result travels back to the driver, so the driver's memory does not grow with the data.
    """

    @abstractmethod
    def begin(self, split: Split) -> None: ...

    @abstractmethod
    def finish(self) -> Result: ...

    def abandon(self) -> None:
        """The split failed: forget what was gathered and remove what was half written."""
