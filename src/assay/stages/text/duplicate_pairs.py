from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from assay.native import near_duplicates
from assay.pipeline import Batch, Collector, Source, Split, Stage
from assay.stages.text.key_store import BUCKETS, SHIFT, KeyStore

if TYPE_CHECKING:
    from numpy.typing import NDArray

KEYS_A_RANGE = 4_000_000


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
        # Nothing of the keys stays mapped while the pairs are confirmed.
        if (found := self._find_pairs(split)) is not None:
            yield found

    def _find_pairs(self, split: Split) -> Pairs | None:
        first, last = (BUCKETS * at // self._count() for at in (split.index, split.index + 1))
        if not (parts := self.store.buckets()):
            return None
        found = near_duplicates.find_pairs(parts, first, last)
        return plain_shared(parts, first, last) if found is None else Pairs(*found)

    def _count(self) -> int:
        return min(max(1, -(-self.store.keys() // KEYS_A_RANGE)), BUCKETS)


def plain_shared(parts: Sequence[tuple[int, Any, Any, Any]], first: int, last: int) -> Pairs:
    """What `native/c/pairs/shared_keys.c` gives, in numpy."""
    import numpy as np

    spans = [(split, keys, rows, slice(starts[first], starts[last])) for split, keys, rows, starts in parts]
    keys = np.concatenate([keys[span] for _, keys, _, span in spans])
    documents = np.concatenate([rows[s].astype(np.uint64) | np.uint64(split << SHIFT) for split, _, rows, s in spans])
    # Parts come in order and documents of a bucket too, so a stable sort leaves each key's documents in order.
    order = np.argsort(keys, kind="stable")
    return pair_documents(keys[order], documents[order])


def pair_documents(keys: NDArray[Any], documents: NDArray[Any]) -> Pairs:
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

        splits = np.unique(np.concatenate([data.first, data.second]) >> np.uint64(SHIFT))
        proofs = self.store.proofs(splits)
        width = next((proof.shape[1] for proof in proofs if proof is not None), 1)
        least = int(np.flatnonzero(np.arange(width + 1) / width >= self.share)[0])
        alike = near_duplicates.confirm(proofs, data.first, data.second, least)
        if alike is None:
            alike = plain_confirm(proofs, data, least)
        return Pairs(data.first[alike], data.second[alike])


def plain_confirm(proofs: Sequence[Any], data: Pairs, least: int) -> NDArray[Any]:
    """What `native/c/pairs/confirm.c` gives, in Python."""
    import numpy as np

    row = (1 << SHIFT) - 1
    sides = zip(data.first.tolist(), data.second.tolist(), strict=True)
    rows = ((proofs[one >> SHIFT][one & row], proofs[other >> SHIFT][other & row]) for one, other in sides)
    return np.fromiter((np.count_nonzero(one == other) >= least for one, other in rows), bool, len(data))


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


def duplicates(found: Pairs) -> Pairs:
    """Documents to remove, each with the one that stays, in order: in each connected group the earliest stays."""
    import numpy as np

    documents, at = np.unique(np.concatenate([found.first, found.second]), return_inverse=True)
    kept = documents[_earliest(len(documents), at[: len(found)], at[len(found) :])]
    away = documents != kept
    return Pairs(kept[away], documents[away])


def _earliest(count: int, one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """The earliest document that pairs lead to, over however many others, for each of `count` documents."""
    import numpy as np

    earliest = np.arange(count)
    while len(one):
        # Joins the groups of a pair: the later group's representative now points to the earlier group's.
        np.minimum.at(earliest, np.maximum(earliest[one], earliest[other]), np.minimum(earliest[one], earliest[other]))
        while (earliest[earliest] != earliest).any():
            earliest = earliest[earliest]
        apart = earliest[one] != earliest[other]
        one, other = one[apart], other[apart]
    return earliest
