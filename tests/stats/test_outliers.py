import numpy as np

from assay.stats.robust import find_outliers


def test_a_wild_value_is_named_with_its_place() -> None:
    values = np.random.default_rng(0).normal(10, 0.1, 30)
    values[7] = 12.0
    found = find_outliers(values)
    assert [outlier.index for outlier in found] == [7]
    assert found[0].severe


def test_equal_values_have_none() -> None:
    assert find_outliers([1.0] * 10) == []
    assert find_outliers([1.0, 99.0]) == []
