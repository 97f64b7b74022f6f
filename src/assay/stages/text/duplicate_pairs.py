from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from assay.pipeline import Batch, Collector, Source, Split, Stage
from assay.stages.text.key_store import KeyStore

if TYPE_CHECKING:
    from numpy.typing import NDArray

KEYS_A_RANGE = 4_000_000
CHUNK = 200_000


@dataclass(frozen=True)
class Pairs(Batch):
    """Pairs of documents, the earlier first; in `first` and `second`, their numbers."""

    first: NDArray[Any]
    second: NDArray[Any]

    def __len__(self) -> int:
        return len(self.first)

    def slice(self, start: int, stop: int) -> Self:
        return type(self)(self.first[start:stop], self.second[start:stop])

    @classmethod
    def concat(cls, batches: Sequence[Self]) -> Self:
        import numpy as np

        return cls(np.concatenate([b.first for b in batches]), np.concatenate([b.second for b in batches]))


class KeyRanges(Source):
    """Documents that share a key, by ranges of keys: digests are spread evenly, so ranges are about equal."""

    name = "key_ranges"

    def __init__(self, store: KeyStore) -> None:
        self.store = store

    def splits(self) -> Sequence[Split]:
        return [Split(index) for index in range(self._count())]

    def read(self, split: Split) -> Iterator[Pairs]:
        import numpy as np

        width = (1 << 64) // self._count()
        first = split.index * width
        last = (1 << 64) - 1 if split.index == self._count() - 1 else first + width - 1
        pieces = list(self.store.range(first, last))
        if not pieces:
            return
        keys = np.concatenate([keys for keys, _ in pieces])
        documents = np.concatenate([documents for _, documents in pieces])
        # Parts come in order and are sorted, so a stable sort leaves each key's documents in order too.
        order = np.argsort(keys, kind="stable")
        yield shared(keys[order], documents[order])

    def _count(self) -> int:
        return max(1, -(-self.store.keys() // KEYS_A_RANGE))


def shared(keys: NDArray[Any], documents: NDArray[Any]) -> Pairs:
    """Each document with the first of its key and with the one before it: enough to connect those that are alike."""
    import numpy as np

    same = np.flatnonzero(keys[1:] == keys[:-1]) + 1
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else same
    leaders = documents[starts[np.searchsorted(starts, same, "right") - 1]] if len(same) else documents[:0]
    both = np.stack([np.concatenate([leaders, documents[same - 1]]), np.concatenate([documents[same]] * 2)], axis=1)
    both = np.unique(both[both[:, 0] != both[:, 1]], axis=0)
    return Pairs(both[:, 0], both[:, 1])


class Confirm(Stage[Pairs, Pairs]):
    """Keeps the pairs whose proofs agree in at least this share: 1 is equality, less a similarity."""

    name = "confirmation"

    def __init__(self, store: KeyStore, share: float) -> None:
        self.store = store
        self.share = share

    def process(self, data: Pairs) -> Pairs:
        import numpy as np

        alike = np.zeros(len(data), bool)
        for start in range(0, len(data), CHUNK):
            stop = min(start + CHUNK, len(data))
            ours, theirs = self.store.proof(data.first[start:stop]), self.store.proof(data.second[start:stop])
            alike[start:stop] = (ours == theirs).mean(axis=1) >= self.share
        return Pairs(data.first[alike], data.second[alike])


class Gather(Collector[Pairs, Pairs]):
    """Pairs of a range go back as arrays, 16 bytes a pair."""

    name = "gather"

    def begin(self, split: Split) -> None:
        self._held: list[Pairs] = []

    def process(self, data: Pairs) -> None:
        self._held.append(data)

    def finish(self) -> Pairs:
        import numpy as np

        nothing = np.zeros(0, np.uint64)
        held, self._held = self._held, []
        return Pairs.concat(held) if held else Pairs(nothing, nothing)


def duplicates(pairs: Pairs) -> Pairs:
    """Of each connected group the earliest document stays; every other, with the one that stays, in order."""
    import numpy as np

    documents, at = np.unique(np.concatenate([pairs.first, pairs.second]), return_inverse=True)
    kept = documents[_earliest(len(documents), at[: len(pairs)], at[len(pairs) :])]
    away = documents != kept
    return Pairs(kept[away], documents[away])


def _earliest(count: int, one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """For each of `count` documents the earliest that its pairs lead to, over however many others."""
    import numpy as np

    earliest = np.arange(count)
    while len(one):
        # Of two that are a pair, what the later one stands for now stands for what the earlier one does.
        np.minimum.at(earliest, np.maximum(earliest[one], earliest[other]), np.minimum(earliest[one], earliest[other]))
        while (earliest[earliest] != earliest).any():
            earliest = earliest[earliest]
        apart = earliest[one] != earliest[other]
        one, other = one[apart], other[apart]
    return earliest
