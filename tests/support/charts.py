"""What a browser made of the line charts on a page."""

from __future__ import annotations

from itertools import combinations

from playwright.sync_api import FloatRect, Locator, Page


def check_charts(page: Page) -> int:
    """Every chart has its lines drawn inside it, over most of its width, and labels that do not meet. How many."""
    figures = page.locator("figure.plot").all()
    for figure in figures:
        box = _box(figure)
        lines = figure.locator("svg g path:not(.dots)").all()
        assert lines, figure.inner_text()
        for line in lines:
            drawn = _box(line)
            assert _within(drawn, box), (drawn, box)
            assert drawn["width"] > box["width"] / 2, (drawn, box)
        labels = [label for label in figure.locator(".area i").all() if label.is_visible()]
        texts, places = [label.inner_text() for label in labels], [_box(label) for label in labels]
        assert len(labels) >= 4, texts
        assert all(_within(place, box) for place in places), (texts, places, box)
        for (one, a), (other, b) in combinations(zip(texts, places, strict=True), 2):
            assert not _meet(a, b), (one, other, a, b)
    return len(figures)


def places_of(chart: Locator) -> FloatRect:
    """The box that values are drawn in."""
    return _box(chart.locator("svg"))


def readings(chart: Locator) -> list[str]:
    return [text for text in chart.locator("p b").all_inner_texts() if text]


def labels_across(chart: Locator) -> list[str]:
    return [label.inner_text().replace("\n", " ") for label in chart.locator(".x i").all() if label.is_visible()]


def drag(page: Page, box: FloatRect, start: float, end: float) -> None:
    """Drags the mouse from one share of a box's width to another."""
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * start, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * end, middle, steps=4)
    page.mouse.up()


def _box(shown: Locator) -> FloatRect:
    box = shown.bounding_box()
    assert box, shown
    return box


def _within(inner: FloatRect, outer: FloatRect) -> bool:
    return (
        inner["x"] >= outer["x"] - 1
        and inner["y"] >= outer["y"] - 1
        and inner["x"] + inner["width"] <= outer["x"] + outer["width"] + 1
        and inner["y"] + inner["height"] <= outer["y"] + outer["height"] + 1
    )


def _meet(a: FloatRect, b: FloatRect) -> bool:
    across = min(a["x"] + a["width"], b["x"] + b["width"]) - max(a["x"], b["x"])
    down = min(a["y"] + a["height"], b["y"] + b["height"]) - max(a["y"], b["y"])
    return across > 0.5 and down > 0.5
