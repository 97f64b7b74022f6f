from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from assay.pipeline import Batch
from assay.stages.alm.bad_line import BadLine
from assay.stages.alm.lines import Lines
from assay.stages.alm.native_batch import NativeBatch


@dataclass(frozen=True)
class Curated(Batch):
    """Recordings of a block of lines with what the stages made of them.

    Those the compiled pass took are held as index ranges over the lines' bytes; the few others as objects, by
    their row. Output comes in the order of rows, whichever way each was done.
    """

    lines: Lines
    native: NativeBatch | None
    plain: dict[int, dict[str, Any]] = field(default_factory=dict)
    bad: tuple[BadLine, ...] = ()
    rows: int = 0
    """Lines that are not blank, bad ones among them."""
    count: int = 0
    """Recordings with a result."""

    def __len__(self) -> int:
        return self.count

    def slice(self, start: int, stop: int) -> Self:
        raise TypeError("a block of curated recordings is not cut: its windows are ranges over all of its bytes")

    @classmethod
    def concat(cls, batches: Sequence[Self]) -> Self:
        raise TypeError("blocks of curated recordings are not joined: their windows are ranges over their own bytes")
