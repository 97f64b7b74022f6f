from __future__ import annotations

import numpy as np
import pytest

from assay.errors import UsageError
from assay.weights.base_finder import cluster, rebalance, signature_of, similarity, sketch_of
from assay.weights.element_types import ELEMENT_TYPES, bits_of


def families(rng, count=12, each=5, size=40_000, likeness=5e-2):
    originals = [rng.standard_normal(size).astype(np.float32) for _ in range(count)]
    labels, sketches = [], []
    for number in range(count * each):
        step = np.float32(likeness) * rng.standard_normal(size).astype(np.float32)
        labels.append(number % count)
        sketches.append(sketch_of(bits_of(originals[number % count] + step), ELEMENT_TYPES["float32"]))
    return labels, np.stack(sketches)


def agrees(found, labels) -> bool:
    return len(set(zip(found, labels, strict=True))) == len(set(labels)) == len(set(found))


@pytest.mark.parametrize("strategy", ["hierarchical", "adaptive"])
def test_families_are_found_without_being_told_how_many(rng, strategy):
    labels, sketches = families(rng)
    found = cluster(sketches, strategy, similarity_threshold=0.9)
    assert found.count == 12
    assert agrees(found.labels, labels)
    member = found.medoid(0, sketches)
    assert found.labels[member] == 0


def test_kmeans_with_k(rng):
    labels, sketches = families(rng)
    assert agrees(cluster(sketches, "kmeans", k=12).labels, labels)
    assert cluster(sketches, "kmeans").count == 5


def test_no_structure_is_one_cluster_for_adaptive(rng):
    assert cluster(rng.standard_normal((20, 256)), "adaptive").count == 1


def test_rebalancing_when_models_are_added(rng):
    labels, sketches = families(rng, count=4, each=4)
    begun = cluster(sketches[:8], "hierarchical", 0.9)
    joined = rebalance(begun, sketches, 0.9, "hierarchical")
    assert agrees(joined.labels, labels)
    assert joined.labels[:8] == begun.labels
    more_labels, more = families(np.random.default_rng(5), count=2, each=3)
    grown = rebalance(joined, np.concatenate([sketches, more]), 0.9, "hierarchical")
    assert grown.count == 6
    assert agrees(grown.labels, [*labels, *(4 + label for label in more_labels)])
    assert rebalance(grown, np.concatenate([sketches, more]), 0.9) is grown


def test_small_and_empty_inputs(rng):
    assert cluster(np.zeros((0, 256)), "adaptive").count == 0
    assert cluster(np.zeros((5, 256)), "hierarchical").labels == (0,) * 5
    with pytest.raises(UsageError, match="unknown clustering strategy"):
        cluster(rng.standard_normal((5, 256)), "dbscan")


def test_signatures_are_close_when_tensors_are(rng):
    kind = ELEMENT_TYPES["float32"]
    base = rng.standard_normal(10_000).astype(np.float32)
    near = base + np.float32(1e-2) * rng.standard_normal(10_000).astype(np.float32)
    far = rng.standard_normal(10_000).astype(np.float32)
    a, b, c = (signature_of(sketch_of(bits_of(t), kind)) for t in (base, near, far))
    assert similarity(a, b) > 0.98
    assert similarity(a, c) < 0.6
    assert signature_of(sketch_of(bits_of(np.full(1000, np.nan, np.float32)), kind)) == 0
