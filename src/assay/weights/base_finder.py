"""Groups of tensors that are versions of one another, found on their sketches, never on the weights.

Three strategies by scikit-learn: k-means; average linkage cut at the similarity threshold; and adaptive, which takes
the number of groups with the best silhouette (Rousseeuw 1987) from cuts of one linkage tree.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from assay.errors import MissingExtra, UsageError
from assay.names import unknown
from assay.weights.codec.codec_methods import CHUNK_ELEMENTS
from assay.weights.element_types import ElementType
from assay.weights.packs.object_store import ObjectStore
from assay.weights.packs.tensor_record import TensorRecord
from assay.weights.repository_config import RepositoryConfig
from assay.weights.store import Tensor

_MOST_TRIED = 24


@dataclass(frozen=True)
class Clusters:
    labels: tuple[int, ...]
    """Cluster number of each sketch."""
    centres: Tensor
    """A row a cluster, of length 1 (or 0)."""

    @property
    def count(self) -> int:
        return len(self.centres)

    def members(self, cluster: int) -> list[int]:
        return [place for place, label in enumerate(self.labels) if label == cluster]

    def medoid(self, cluster: int, sketches: Tensor) -> int:
        """The member nearest to the centre: what the others are best stored as differences to."""
        members = self.members(cluster)
        return members[int(np.argmax(sketches[members] @ self.centres[cluster]))]


def cluster(sketches: Tensor, strategy: str, similarity_threshold: float = 0.98, k: int | None = None) -> Clusters:
    """`sketches` are rows of length 1. `k` only for k-means, which otherwise takes the square root of half of them."""
    sketches = np.asarray(sketches, dtype=np.float64)
    count = len(sketches)
    if strategy == "none" or count < 3:
        return _clusters(sketches, range(count) if strategy == "none" else _pairs(sketches, similarity_threshold))
    if strategy == "kmeans":
        return _clusters(sketches, _kmeans(sketches, k or max(1, round((count / 2) ** 0.5))))
    if strategy == "hierarchical":
        return _clusters(sketches, _linkage(sketches, distance=1 - similarity_threshold))
    if strategy == "adaptive":
        return _clusters(sketches, _adaptive(sketches))
    raise UsageError(unknown("clustering strategy", strategy, ("none", "kmeans", "hierarchical", "adaptive")))


def rebalance(old: Clusters, sketches: Tensor, similarity_threshold: float, strategy: str = "adaptive") -> Clusters:
    """After models were added: `sketches` begins with the old ones.

    New sketches join the cluster whose centre is near enough; if some are near none, all are clustered anew.
    """
    known = len(old.labels)
    new = np.asarray(sketches, dtype=np.float64)[known:]
    if not len(new):
        return old
    if old.count:
        nearness = new @ old.centres.T
        if float(nearness.max(axis=1).min()) >= similarity_threshold:
            return _clusters(sketches, (*old.labels, *nearness.argmax(axis=1)))
    return cluster(sketches, strategy, similarity_threshold)


def _pairs(sketches: Tensor, threshold: float) -> list[int]:
    if len(sketches) == 2 and float(sketches[0] @ sketches[1]) >= threshold:
        return [0, 0]
    return list(range(len(sketches)))


def _clusters(sketches: Tensor, labels: Sequence[int]) -> Clusters:
    numbers: dict[int, int] = {}
    dense = tuple(numbers.setdefault(int(label), len(numbers)) for label in labels)
    centres = np.zeros((len(numbers), sketches.shape[1] if sketches.ndim == 2 else 0))
    for place, label in enumerate(dense):
        centres[label] += sketches[place]
    lengths = np.linalg.norm(centres, axis=1, keepdims=True)
    return Clusters(dense, np.divide(centres, lengths, out=np.zeros_like(centres), where=lengths > 0))


def _kmeans(sketches: Tensor, k: int) -> list[int]:
    labels = _sklearn().KMeans(n_clusters=min(k, len(sketches)), n_init=4, random_state=0).fit_predict(sketches)
    return [int(label) for label in labels]


def _linkage(sketches: Tensor, distance: float | None = None, count: int | None = None) -> list[int]:
    model = _sklearn().AgglomerativeClustering(
        n_clusters=count, distance_threshold=distance, linkage="average", metric="cosine"
    )
    return [int(label) for label in model.fit_predict(_nonzero(sketches))]


def _adaptive(sketches: Tensor) -> list[int]:
    from sklearn.metrics import silhouette_score

    usable = _nonzero(sketches)
    most = len(sketches) - 1
    tried = sorted({*range(2, min(most, _MOST_TRIED) + 1), *np.geomspace(2, most, _MOST_TRIED).astype(int).tolist()})
    best, best_score = [0] * len(sketches), 0.25  # below that, there is no structure to speak of
    for count in tried:
        labels = _linkage(sketches, count=count)
        if len(set(labels)) < 2:
            continue
        score = float(silhouette_score(usable, labels, metric="cosine"))
        if score > best_score:
            best, best_score = labels, score
    return best


def _nonzero(sketches: Tensor) -> Tensor:
    """A sketch of nothing has no direction; it gets one of its own."""
    out = sketches.copy()
    empty = ~out.any(axis=1)
    out[empty, 0] = 1.0
    return out


def _sklearn() -> Any:
    try:
        from sklearn import cluster as sklearn_cluster
    except ImportError:
        raise MissingExtra("scikit-learn, which clustering needs,", "weights") from None
    return sklearn_cluster


# Sketches: a tensor's values at a few fixed places, and 64 bits that are close when the values point the same way.
#
# The bits are signs of random projections (Charikar, "Similarity estimation techniques from rounding algorithms",
# 2002):
# two tensors at angle a differ in each with probability a / pi. Eight bytes a tensor, whatever its size.

COORDINATES = 256
SIGNATURE_BITS = 64
FEWEST_ELEMENTS = 64
"""Elements below which a tensor gets no sketch: a base for so small a one is not worth a search."""


def sketch_of(first_chunk: Tensor, kind: ElementType) -> Tensor:
    """Values at 256 places of the first chunk, centred and of length 1; 0 where there is nothing to compare."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = first_chunk[_places(first_chunk.size)].view(_lane_dtype(kind)).astype(np.float64)
        values = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
        values = values - values.mean()
        length = float(np.linalg.norm(values))
    return values / length if 0 < length < math.inf else np.zeros(COORDINATES)


def signature_of(sketch: Tensor) -> int:
    """The 64 bits of a sketch; 0 for a tensor that has no sketch."""
    if not sketch.any():
        return 0
    signs = _planes() @ sketch > 0
    return int(np.packbits(signs).view(">u8")[0]) or 1


def similarity(signature: int, other: int) -> float:
    """An estimate of the cosine of the angle between two sketches."""
    return math.cos(math.pi * (signature ^ other).bit_count() / SIGNATURE_BITS)


def _lane_dtype(kind: ElementType) -> np.dtype[np.generic]:
    if kind.lanes == 2:
        return np.dtype(f"float{kind.bits}")
    return kind.numpy


@lru_cache(maxsize=256)
def _places(elements: int) -> Tensor:
    return np.random.default_rng(elements).integers(0, min(elements, CHUNK_ELEMENTS), COORDINATES)


@lru_cache(maxsize=1)
def _planes() -> Tensor:
    return np.random.default_rng(SIGNATURE_BITS).standard_normal((SIGNATURE_BITS, COORDINATES))


# Which stored tensors may serve as a base: those of the same name first, then those whose sketch is alike.

_ALIKE_TRIED = {"small": 4, "balanced": 2, "fast": 0}
_NAMED_TRIED = {"small": 4, "balanced": 2, "fast": 1}
_LONGEST = {"fast": 1}
"""Longest chain of a setting, whatever the configuration says: reading costs one decoding for each link."""


class BaseFinder:
    def __init__(self, store: ObjectStore, config: RepositoryConfig) -> None:
        self._store, self._config = store, config
        self._buckets: dict[tuple[str, int], list[TensorRecord]] | None = None
        self._signatures: dict[tuple[str, int], Tensor] = {}

    def find_named(self, bases: Iterable[bytes], kind: ElementType) -> list[TensorRecord]:
        """The tensors of that name in the parents, and what those are differences to."""
        found: list[TensorRecord] = []
        for digest in bases:
            current: bytes | None = digest
            while current is not None and len(found) < _NAMED_TRIED[self._config.setting]:
                record = self._store.record(current)
                if self._may_serve(record, kind) and record not in found:
                    found.append(record)
                current = record.base
        return found

    def alike(self, signature: int, kind: ElementType, elements: int) -> list[TensorRecord]:
        """Tensors of the same size whose sketches point the same way, the closest first."""
        tried = _ALIKE_TRIED[self._config.setting]
        if not signature or not tried:
            return []
        key = (kind.name, elements)
        bucket = self._index().get(key, [])
        if key not in self._signatures:
            self._signatures[key] = np.array([record.sketch for record in bucket], np.uint64)
        distance = np.bitwise_count(self._signatures[key] ^ np.uint64(signature))
        close = []
        for place in np.argsort(distance, kind="stable")[: 4 * tried]:
            record = bucket[int(place)]
            if similarity(signature, record.sketch) < self._config.similarity_threshold:
                break
            if self._may_serve(record, kind):
                close.append(record)
        return close[:tried]

    def _may_serve(self, record: TensorRecord, kind: ElementType) -> bool:
        longest = min(self._config.longest_chain, _LONGEST.get(self._config.setting, self._config.longest_chain))
        return record.kind == kind and record.elements > 0 and record.depth < longest

    def _index(self) -> dict[tuple[str, int], list[TensorRecord]]:
        if self._buckets is None:
            self._buckets = defaultdict(list)
            for record in self._store.records():
                if record.sketch:
                    self._buckets[record.kind.name, record.elements].append(record)
        return self._buckets
