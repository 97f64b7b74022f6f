from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.loadgen.latency import SHARES, Histogram, Latency

values = st.lists(st.integers(0, 2**50), min_size=1, max_size=200)


@given(values, st.floats(0.001, 1.0))
def test_percentiles_are_within_a_thousandth(sample: list[int], share: float) -> None:
    histogram = Histogram()
    histogram.add(sample)
    exact = np.sort(sample)[max(int(np.ceil(share * len(sample))), 1) - 1]
    assert exact <= histogram.percentile(share) <= exact * (1 + 2**-10) + 1


@given(values, values)
def test_adding_histograms_is_adding_their_values(one: list[int], other: list[int]) -> None:
    merged, whole, part = Histogram(), Histogram(), Histogram()
    merged.add(one)
    part.add(other)
    merged.merge(part)
    whole.add([*one, *other])
    assert np.array_equal(merged.counts, whole.counts)
    assert (merged.total, merged.sum, merged.least, merged.most) == (whole.total, whole.sum, whole.least, whole.most)


def test_agrees_with_hdrhistogram() -> None:
    from hdrh.histogram import HdrHistogram

    sample = np.random.default_rng(1).lognormal(12, 2, 20_000).astype(np.int64)
    theirs = HdrHistogram(1, 10**12, 3)
    for value in sample.tolist():
        theirs.record_value(value)
    ours = Latency.of(sample)
    for name, share in SHARES.items():
        assert ours[name] == pytest.approx(theirs.get_value_at_percentile(share * 100), rel=0.002)


def test_nothing_is_not_a_number_and_negative_is_nothing() -> None:
    assert np.isnan(Histogram().percentile(0.5))
    histogram = Histogram()
    histogram.add([-5])
    assert histogram.percentile(1) == 0
