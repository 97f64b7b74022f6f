from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from assay.benchmarks.weights.chart import Chart, Series
from assay.benchmarks.weights.chart_page import chart_page
from assay.benchmarks.weights.table import Table

LINES = Chart("Speed", "MB/s", (Series("commit", (1e3, 1e6), (10, 1000)),), kind="lines", log=True, x_title="size")
BARS = Chart("Ratio <b>", "x", (Series("ours", (0, 1), (2.0, 4.0)),), ticks=("a & b", "c"))


def test_charts_are_well_formed_and_escaped() -> None:
    many = Series("ours", tuple(float(x) for x in range(9)), tuple(float(x + 1) for x in range(9)))
    logged = Chart("bars on a logarithmic axis begin at 0", "x", (many,), ticks=tuple("abcdefghi"), log=True)
    crowded = Chart("more points than ticks", "x", (many,), kind="lines")
    for chart in (LINES, BARS, logged, crowded, Chart("empty", "x", ())):
        ElementTree.fromstring(chart.svg())
    assert "a &amp; b" in BARS.svg()
    assert "<b>" not in BARS.svg()


def test_a_bar_twice_as_high_is_drawn_twice_as_high() -> None:
    heights = [float(found) for found in re.findall(r'height="([\d.]+)" fill="#0072b2"><title>', BARS.svg())]
    assert heights[1] / heights[0] == pytest.approx(2, abs=0.01)


def test_decades_are_evenly_spaced_on_a_logarithmic_axis() -> None:
    points = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', LINES.svg())
    assert [point[0] for point in points] == ["70.0", "700.0"]


def test_the_page_asks_nothing_of_anyone_and_escapes_what_it_shows() -> None:
    table = Table("T", ("<script>",), (("<img src=x>",),), ("<i>",))
    page = chart_page("Suites", [("suite", [table], [LINES, BARS])])
    assert "<script" not in page
    assert "<img" not in page
    assert not re.search(r"<[^>]*(?:src|href)\s*=|url\(|@import", page)
