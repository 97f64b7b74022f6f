from __future__ import annotations

import math
import re
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from assay.report.svg.distributions import dots_svg
from assay.report.svg.lines import overlay_svg, sparkline_svg

NUMBERS = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=12)


def middles(drawing: str) -> dict[str, float]:
    found = re.findall(r'class="(before|now) middle" d="M([\d.]+) ', drawing)
    return {kind: float(x) for kind, x in found}


def test_both_sides_are_on_one_scale() -> None:
    drawing = overlay_svg([10.0, 11.0, 12.0, 11.0, 10.5], [20.0, 21.0, 22.0, 21.0, 20.5], "s", "x")
    assert middles(drawing)["before"] < 360 / 3 < 2 * 360 / 3 < middles(drawing)["now"]
    same = middles(overlay_svg([10.0, 11.0, 12.0], [10.0, 11.0, 12.0], "s", "x"))
    assert same["before"] == same["now"]


def test_few_values_are_dots_without_an_outline() -> None:
    few, many = (overlay_svg([1.0] * n, [2.0] * n, None, "x") for n in (3, 4))
    assert not re.findall(r'class="(?:before|now)" d=', few)
    assert len(re.findall(r'class="(?:before|now)" d=', many)) == 2
    assert few.count("h0") == 6


def test_nothing_is_drawn_of_one_side() -> None:
    assert overlay_svg([], [1.0], None, "x") == overlay_svg([1.0], [], None, "x") == ""


@given(before=NUMBERS, now=NUMBERS)
def test_any_numbers_give_a_sound_drawing(before: list[float], now: list[float]) -> None:
    drawings = (
        overlay_svg(before, now, "<b>", "<i>"),
        dots_svg(now, min(now), max(now), "x", before),
        sparkline_svg([*before, *now], "x", [1, 99]),
    )
    for drawing in drawings:
        root = ElementTree.fromstring(drawing)
        assert not re.search("nan|inf", " ".join(path.get("d", "") for path in root.iter("path")))
        width, height = map(float, root.get("viewBox", "").split()[2:])
        for path in root.iter("path"):
            x = [float(word) for word in re.findall(r"[ML]([-\d.]+) ", path.get("d", ""))]
            assert all(math.isfinite(one) and -1 <= one <= width + 1 for one in x)
        assert height > 0


def test_a_step_stands_before_the_first_value_of_the_new_level() -> None:
    drawing = sparkline_svg([1.0, 1.0, 2.0, 2.0, 2.0], "x", [2])
    [at] = re.findall(r'class="step" d="M(\d+) ', drawing)
    places = [float(x) for x in re.findall(r"[ML](\d+) ", re.findall(r'<path d="([^"]+)"', drawing)[0])]
    assert places[1] < float(at) < places[2]
