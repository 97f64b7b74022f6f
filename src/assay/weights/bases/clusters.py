"""Groups of tensors that are versions of one another, found on their sketches, never on the weights.

Three strategies by scikit-learn: k-means; average linkage cut at the similarity threshold; and adaptive, which takes
the number of groups with the best silhouette (Rousseeuw 1987) from cuts of one linkage tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.errors import MissingExtra, UsageError
from assay.names import unknown
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
