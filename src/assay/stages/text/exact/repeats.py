from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import Self

from assay.native.digests import RangeOfDigests
from assay.pipeline import Batch, Collector, Source, Split
from assay.stages.text.exact.digest_store import DigestStore

DOCUMENTS_A_RANGE = 4_000_000


@dataclass(frozen=True)
class RepeatedDocuments(Batch):
    """Documents that repeat an earlier one, by number: `first` has the text first, `second` repeats it, in order."""

    first: array[int]
    second: array[int]

    def __len__(self) -> int:
        return len(self.first)

    def slice(self, start: int, stop: int) -> Self:
        return type(self)(self.first[start:stop], self.second[start:stop])

    @classmethod
    def concat(cls, batches: Sequence[Self]) -> Self:
        """Joins batches, in the order of the documents that repeat, wherever the batches come from."""
        if len(batches) == 1:
            return batches[0]
        first, second = array("q"), array("q")
        for later, earlier in merge(*(zip(batch.second, batch.first, strict=True) for batch in batches)):
            second.append(later)
            first.append(earlier)
        return cls(first, second)


class DigestRanges(Source):
    """Documents that repeat others, by ranges of digests, so that memory does not grow with their number."""

    name = "key_ranges"

    def __init__(self, store: DigestStore) -> None:
        self.store = store

    def splits(self) -> Sequence[Split]:
        return [Split(index) for index in range(self._count())]

    def read(self, split: Split) -> Iterator[RepeatedDocuments]:
        gathered = RangeOfDigests(split.index, self._count())
        for digests, first in self.store.digests():
            gathered.add(digests, first)
        pairs = gathered.repeats()
        yield RepeatedDocuments(array("q", pairs[0::2]), array("q", pairs[1::2]))

    def _count(self) -> int:
        return max(1, -(-len(self.store) // DOCUMENTS_A_RANGE))


class GatherRepeats(Collector[RepeatedDocuments, RepeatedDocuments]):
    """Repeats of a range go back as arrays, 16 bytes each."""

    name = "gather"

    def begin(self, split: Split) -> None:
        self._held: list[RepeatedDocuments] = []

    def process(self, data: RepeatedDocuments) -> None:
        self._held.append(data)

    def finish(self) -> RepeatedDocuments:
        held, self._held = self._held, []
        return RepeatedDocuments.concat(held) if held else RepeatedDocuments(array("q"), array("q"))
