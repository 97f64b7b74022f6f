from __future__ import annotations

import numpy as np
import pytest

from assay.loadgen.colocation.slowdown import Slices, slowdown


def slices(rate: float, latency: float, seed: int) -> Slices:
    rng = np.random.default_rng(seed)
    return Slices(rng.normal(rate, rate * 0.02, 20), tuple(rng.exponential(latency, 200) for _ in range(20)))


def test_ratios_are_found_with_intervals_that_hold_them() -> None:
    found = slowdown([slices(1000, 1e6, 1)], [slices(500, 3e6, 2)])
    assert found.throughput.estimate == pytest.approx(2, rel=0.03)
    assert found.throughput.low < 2.05
    assert found.throughput.high > 1.95
    assert found.throughput.half_width < 0.1
    assert found.p99.estimate == pytest.approx(3, rel=0.15)
    assert found.p99.low < 3 < found.p99.high


def test_no_difference_is_one() -> None:
    found = slowdown([slices(1000, 1e6, 3), slices(1000, 1e6, 4)], [slices(1000, 1e6, 5), slices(1000, 1e6, 6)])
    assert found.throughput.low <= 1.01
    assert found.throughput.high >= 0.99


def test_a_pipeline_that_answered_nothing_has_no_slowdown() -> None:
    nothing = Slices(np.zeros(20), tuple(np.empty(0) for _ in range(20)))
    found = slowdown([slices(1000, 1e6, 1)], [nothing])
    assert np.isnan(found.throughput.estimate)
    assert np.isnan(found.p99.estimate)
