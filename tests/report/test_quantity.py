from __future__ import annotations

import math

import pytest

from assay.report.quantity import duration, number, percent, quantity


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (1234567, "1,234,567"), (12345.678, "12,346"), (1234.5678, "1,235"), (0.5, "0.5"), (-3, "−3"),
        (0.00123456, "0.001235"), (1.5e-7, "1.500e-07"), (math.nan, "NaN"), (-math.inf, "−∞"), (1e20, "1.000e+20"),
    ],
)  # fmt: skip
def test_number(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.00123, "s", "1.23 ms"), (2.5, "s", "2.5 s"), (3_400_000, "bytes", "3.4 MB"), (12, "B", "12 B"),
        (True, None, "true"), ("xenna", None, "xenna"), (None, "s", "–"), (5e-10, "s", "0.5 ns"),
    ],
)  # fmt: skip
def test_quantity(value: object, unit: str | None, text: str) -> None:
    assert quantity(value, unit) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (0.84, "840 ms"), (12.44, "12.4 s"), (200, "3 min 20 s"), (3600, "1 h"), (7500, "2 h 5 min")],
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_percent() -> None:
    assert [percent(r) for r in (1.05, 0.879, 3.0)] == ["+5.0%", "−12.1%", "+200%"]
