from __future__ import annotations

from itertools import pairwise

import ml_dtypes
import numpy as np
import pytest

from assay.benchmarks.weight_scenarios.scenario_data import SCENARIOS, scenario_data
from assay.weights.entropy_limit import order_bits, repository_limit, tensor_limit, zigzag_difference


def test_entropy_of_known_planes():
    uniform = np.arange(256, dtype=np.uint8).repeat(4)
    assert tensor_limit(uniform).alone == pytest.approx(1024)
    assert tensor_limit(np.zeros(1000, np.float32)).alone == 0
    halves = np.array([0, 1] * 500, np.uint8)
    assert tensor_limit(halves).alone == pytest.approx(125)


def test_ordered_integers_follow_numeric_order():
    values = np.array([-np.inf, -1e30, -1.0, -1e-45, 0.0, 1e-45, 1.0, 1e30, np.inf], np.float32)
    ranks = order_bits(values.view(np.uint32)).astype(np.int64)
    assert all(a < b for a, b in pairwise(ranks))


def test_zigzag_difference_is_small_for_neighbours_and_wraps():
    base = np.array([0, 10, 255], np.uint8)
    assert zigzag_difference(np.array([1, 9, 0], np.uint8), base, is_float=False).tolist() == [2, 1, 2]


def test_difference_given_base_exponent_beats_xor_for_a_fine_tune():
    rng = np.random.default_rng(0)
    base = rng.standard_normal(200_000).astype(np.float32)
    child = (base + 1e-3 * rng.standard_normal(base.size)).astype(ml_dtypes.bfloat16)
    limit = tensor_limit(child, base.astype(ml_dtypes.bfloat16))
    assert limit.difference is not None
    assert limit.xor is not None
    assert limit.difference < 0.8 * limit.xor < limit.alone


def test_a_duplicate_costs_nothing():
    tensor = np.arange(1000, dtype=np.float32)
    once = repository_limit([{"a": tensor}])
    twice = repository_limit([{"a": tensor}, {"b": tensor.copy()}])
    assert twice.limit_bytes == once.limit_bytes
    assert twice.duplicates == 1
    assert twice.logical_bytes == 2 * once.logical_bytes


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenarios_are_the_same_bits_every_time(name):
    first, again = (scenario_data(name, "bfloat16", parameters=60_000, versions=3) for _ in range(2))
    assert first.parents == again.parents
    for left, right in zip(first.models, again.models, strict=True):
        assert left.keys() == right.keys()
        assert all(left[key].tobytes() == right[key].tobytes() for key in left)
