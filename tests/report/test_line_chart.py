"""Every drawing is parsed: what is in it lies inside its box, whatever the numbers."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.report.exhibits.plots import Plot
from assay.report.svg.lanes import standalone
from assay.report.svg.lines import line_chart

DAY = 86400.0
MARCH = 1772330400.0
NAN, INF = math.nan, math.inf


def plot(x: list[float], *lines: list[float | None], **other: object) -> Plot:
    made = Plot("Memory", "MB", tuple(x), tuple((f"line {i}", tuple(v)) for i, v in enumerate(lines)), "in words")
    return replace(made, **other)  # type: ignore[arg-type]


class Drawn:
    def __init__(self, markup: str) -> None:
        self.root = ElementTree.fromstring(markup)
        [self.svg] = self.root.iter("svg")
        self.x, self.y = self._ticks("x"), self._ticks("y")

    def _ticks(self, axis: str) -> list[tuple[float, str]]:
        """Ticks where the style sheet places them: by a style of their own, or a step from the one before."""
        steps = {name: float(n) for name, n in re.findall(r"--(\w+):(-?[\d.]+)(?:;|$)", self.root.get("style", ""))}
        found = []
        for index, label in enumerate(self.root.findall(f".//div[@class='area']/div[@class='{axis}']/i")):
            own = re.fullmatch(r"left:([\d.]+)%", label.get("style", ""))
            place = float(own[1]) if own else steps[axis] + index * steps[f"d{axis}"]
            found.append((place, "/".join(label.itertext())))
        return found

    def marks(self) -> list[str]:
        return [path.get("d", "") for path in self.svg.findall("path") if path.get("class") == "mark"]

    def line(self, number: int) -> list[list[tuple[float, float]]]:
        """The stretches of a line, each a list of places."""
        paths = self.svg.findall("g")[number - 1].findall("path")
        return stretches("".join(path.get("d", "") for path in paths if path.get("class") is None))

    def dots(self, number: int) -> list[tuple[float, float]]:
        found = []
        for path in self.svg.findall("g")[number - 1].findall("path[@class='dots']"):
            x, y = 0.0, 0.0
            for dx, dy in re.findall(r"m(-?[\d.]+) ?(-?\d+)h0", path.get("d", "")):
                x, y = x + float(dx), y + float(dy)
                found.append((x, y))
        return found


def stretches(path: str) -> list[list[tuple[float, float]]]:
    """Points of each stretch of a path `M x y l dx dy …`."""
    found = []
    for part in re.findall(r"M[^M]+", path):
        start, _, rest = part[1:].partition("l")
        x, y = (float(n) for n in re.findall(r"-?\d*\.?\d+", start)[:2])
        places = [(x, y)]
        numbers = [float(n) for n in re.findall(r"-?\d*\.?\d+", rest)]
        for dx, dy in zip(numbers[::2], numbers[1::2], strict=True):
            x, y = x + dx, y + dy
            places.append((x, y))
        found.append(places)
    return found


def sound(shown: Plot) -> Drawn:
    drawn = Drawn(line_chart(shown))
    for number in range(1, len(shown.lines) + 1):
        places = [p for stretch in drawn.line(number) for p in stretch] + drawn.dots(number)
        assert all(-0.01 <= x <= 1000.01 and -0.01 <= y <= 1000.01 for x, y in places), places
        assert bool(places) == any(value is not None for value in shown.sort().lines[number - 1][1])
    for places in (drawn.x, [(100 - top, text) for top, text in drawn.y]):
        assert all(a < b for (a, _), (b, _) in pairwise(places)), places
        assert all(-0.05 <= place <= 100.05 for place, _ in places)
        assert len(places) <= 9, "the style sheet places no more"
        assert len({text for _, text in places}) == len(places)
    return drawn


ODD = {
    "one point": plot([5.0], [3.0]),
    "one point in time": plot([MARCH], [3.0], time=True, zero=False),
    "all equal": plot([1.0, 2.0, 3.0], [7.0, 7.0, 7.0]),
    "all equal, read against itself": plot([1.0, 2.0], [7.0, 7.0], zero=False),
    "all zero": plot([0.0, 1.0], [0.0, 0.0]),
    "huge": plot([0.0, 1.0], [1e300, 3e300]),
    "as huge as can be": plot([-1.7e308, 1.7e308], [-1.7e308, 1.7e308], zero=False),
    "tiny": plot([0.0, 1.0], [1e-12, 2e-12]),
    "as tiny as can be": plot([0.0, 5e-324], [5e-324, 0.0]),
    "negative": plot([0.0, 1.0], [-3.0, -2.0]),
    "either side of nothing": plot([0.0, 1.0], [-3.0, 2.0]),
    "not numbers": plot([0.0, 1.0, 2.0, 3.0], [NAN, 1.0, INF, -INF], [None, None, 1.0, 2.0]),
    "x that is no number": plot([NAN, 1.0, INF, 2.0], [1.0, 2.0, 3.0, 4.0]),
    "nothing but gaps": plot([0.0, 1.0], [None, NAN]),
    "no line": plot([0.0, 1.0]),
    "an empty line": plot([0.0, 1.0], []),
    "nothing at all": plot([], []),
    "two at the same x": plot([1.0, 1.0, 2.0], [1.0, 5.0, 2.0]),
    "only the same x": plot([1.0, 1.0], [1.0, 5.0]),
    "a day apart": plot([MARCH, MARCH + DAY], [1.0, 2.0], time=True),
    "no date": plot([0.0, 1e300], [1.0, 2.0], time=True),
    "five lines": plot([0.0, 1.0], *([float(i), i + 1.0] for i in range(5))),
    "close together and far from nothing": plot([1e15, 1e15 + 0.5], [1e15, 1e15 + 0.25], zero=False),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_numbers_give_a_sound_drawing(name: str) -> None:
    shown = ODD[name]
    sound(shown)
    ElementTree.fromstring(standalone(shown))
    json.loads(json.dumps(shown.to_json(), allow_nan=False))


NUMBERS = st.floats() | st.none()


@given(
    st.lists(st.tuples(st.floats(), NUMBERS, NUMBERS), max_size=60), st.booleans(), st.booleans(), st.lists(st.floats())
)
def test_any_numbers_give_a_sound_drawing(
    rows: list[tuple[float, float | None, float | None]], zero: bool, time: bool, marks: list[float]
) -> None:
    x, one, two = ([row[i] for row in rows] for i in range(3))
    sound(plot(x, one, two, zero=zero, time=time, marks=tuple(marks)))  # type: ignore[arg-type]


def test_a_line_goes_where_its_values_are() -> None:
    [places] = Drawn(line_chart(plot([0.0, 5.0, 10.0], [0.0, 10.0, 5.0]))).line(1)
    assert [x for x, _ in places] == [0, 500, 1000]
    bottom, top, middle = (y for _, y in places)
    assert bottom == 1000
    assert top == pytest.approx(1000 - 1000 / 1.08, abs=1)
    assert middle == pytest.approx((bottom + top) / 2, abs=1)


def test_a_gap_is_left_open_and_a_value_between_gaps_is_a_dot() -> None:
    x = [float(i) for i in range(50)]
    values: list[float | None] = [1.0 + i % 3 for i in range(50)]
    values[20] = values[22] = None
    drawn = Drawn(line_chart(plot(x, values)))
    assert [len(stretch) for stretch in drawn.line(1)] == [20, 27]
    assert len(drawn.dots(1)) == 1


def test_where_a_line_is_flat_its_ends_tell_all() -> None:
    x = [float(i) for i in range(101)]
    [places] = Drawn(line_chart(plot(x, [1.0] * 50 + [2.0] * 51))).line(1)
    assert [left for left, _ in places] == [0, 490, 500, 1000]


def test_few_values_have_dots() -> None:
    few, many = ([float(i) for i in range(n)] for n in (29, 30))
    assert len(Drawn(line_chart(plot(few, few))).dots(1)) == 29
    assert Drawn(line_chart(plot(many, many))).dots(1) == []


def test_marks_are_where_something_changed_and_nowhere_else() -> None:
    drawn = Drawn(line_chart(plot([0.0, 10.0], [1.0, 2.0], marks=(5.0, 99.0, NAN))))
    assert drawn.marks() == ["M500.0 0v1000"]


def test_thinned_a_spike_a_dip_and_a_gap_are_kept() -> None:
    count = 100_000
    values: list[float | None] = [10.0 + (i % 7) / 7 for i in range(count)]
    values[31_415] = 100.0
    values[71_828] = 1.0
    values[50_000:52_000] = [None] * 2000
    shown = plot([float(i) for i in range(count)], values)
    markup = line_chart(shown)
    assert len(markup) < 40_000
    drawn = Drawn(markup)
    sound(shown)
    before, after = drawn.line(1)
    assert before[-1][0] == pytest.approx(500, abs=1)
    assert after[0][0] == pytest.approx(520, abs=1)
    highest = 100 + 0.08 * (100 - 1)
    assert min(before, key=lambda p: p[1]) == pytest.approx((314.2, 1000 - 100_000 / highest), abs=1)
    assert max(after, key=lambda p: p[1]) == pytest.approx((718.3, 1000 - 1000 / highest), abs=1)


def test_thinned_a_gap_that_is_one_missing_value_stays_open() -> None:
    x = [*(float(i) for i in range(5000)), 5000.5, *(9000.0 + i for i in range(1000))]
    values: list[float | None] = [*([1.0] * 5000), None, *([2.0] * 1000)]
    assert len(Drawn(line_chart(plot(x, values))).line(1)) == 2


def test_what_is_said_and_named_is_text() -> None:
    hostile = "<b onload='x'>\u202e\"&"
    markup = line_chart(Plot(hostile, hostile, (0.0, 1.0), ((hostile, (1.0, 2.0)),), hostile, hostile))
    drawn = Drawn(markup)
    [area] = drawn.root.findall(".//div[@class='area']")
    assert area.get("role") == "img"
    assert "<b onload='x'>\\u202e\"&" in area.get("aria-label", "")
    assert not list(drawn.root.iter("b")) or all(not b.attrib for b in drawn.root.iter("b"))
    assert "\u202e" not in markup


def test_the_legend_names_lines_and_unit() -> None:
    drawn = Drawn(line_chart(plot([0.0, 1.0], [1.0, 2.0], [2.0, 3.0])))
    [legend] = drawn.root.findall(".//p")
    assert " ".join("".join(legend.itertext()).split()) == "line 0 (MB) line 1 (MB) seconds"


def test_labels_that_would_meet_on_a_phone_are_left_for_wider_pages() -> None:
    nights = [MARCH + i * DAY for i in range(400)]
    drawn = Drawn(line_chart(plot(nights, [1.0] * 400, time=True)))
    labels = drawn.root.findall(".//div[@class='x']/i")
    narrow = [label for label in labels if "wide" not in label.get("class", "").split()]
    assert len(labels) > len(narrow) >= 2


def test_outside_a_page_a_chart_has_its_own_style_and_no_script() -> None:
    markup = standalone(plot([0.0, 1.0], [1.0, 2.0]))
    root = ElementTree.fromstring(markup)
    [style] = root.iter("style")
    assert style.text
    assert not list(root.iter("script"))
    assert "prefers-color-scheme: dark" in style.text
    selectors = re.findall(r"(?:^|[{}])\s*([^{}@]+)\{", re.sub(r"/\*.*?\*/", "", style.text, flags=re.DOTALL))
    assert selectors
    assert all(one.strip().startswith(".line-chart") for each in selectors for one in each.split(",")), selectors
    assert not re.search(r"https?://|@import|url\(", markup)


def test_more_values_than_x_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="plot 'Memory': line 'line 0' has 2 values for 1 x"):
        plot([1.0], [1.0, 2.0])
