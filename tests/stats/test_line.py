from __future__ import annotations

from math import inf

import pytest
import scipy.stats

from assay.stats.fits import fit_line


def test_a_line_without_noise_is_found_and_certain() -> None:
    line = fit_line([0, 1, 2, 3], [5, 7, 9, 11])
    assert (line.slope, line.intercept, line.r_squared) == pytest.approx((2, 5, 1))
    assert line.high - line.low == pytest.approx(0, abs=1e-9)


def test_the_interval_of_the_slope_is_students() -> None:
    x, y = [1, 2, 3, 4, 5], [1, 3, 2, 5, 4]
    line, theirs = fit_line(x, y), scipy.stats.linregress(x, y)
    assert (line.slope, line.intercept) == pytest.approx((theirs.slope, theirs.intercept))
    assert line.high - line.slope == pytest.approx(theirs.stderr * scipy.stats.t.ppf(0.975, 3))


def test_two_points_leave_nothing_over() -> None:
    assert fit_line([1, 2], [1, 3]).high == inf
