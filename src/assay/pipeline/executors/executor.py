from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.pipeline.chain import SplitResult
    from assay.pipeline.pipeline import Pipeline


class Executor(ABC):
    name: str

    @abstractmethod
    def run(self, pipeline: Pipeline) -> Iterator[SplitResult]:
        """Yields every split's result once, in the order of `pipeline.splits()`, which it asks once."""
