"""Base, head and change of one row never contradict each other, wherever they are printed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from html import unescape

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.analysis.records import side

from assay.analysis import Comparison, Verdict, compare
from assay.analysis.comparison import verdict_of
from assay.files.json_text import encode
from assay.report.markdown import _changes
from assay.report.page_templates import templates
from assay.report.session_page import comparison_page
from assay.report.text.comparison import cells_of, comparison_markdown
from assay.stats.shift import Shift


class Nights:
    """A past that a test chooses."""

    def __init__(self, levels: list[float]) -> None:
        self._levels = np.log(levels)

    def levels(self, entry: str, fingerprint: str, metric: str) -> np.ndarray:
        return self._levels

    def values(self, entry: str, fingerprint: str, metric: str) -> np.ndarray:
        return np.exp(self._levels)

    def runs(self, fingerprint: str) -> tuple[()]:
        return ()


values = st.floats(1e-3, 1e9).flatmap(
    lambda level: st.tuples(
        *(st.lists(st.floats(0.5, 2).map(lambda f: level * f), min_size=n, max_size=14) for n in (1, 1, 10))
    )
)


def _number(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


def _agree(base: str, head: str, change: str) -> None:
    if change == "–":
        return
    printed = 1 + _number(change.removesuffix("%")) / 100
    assert math.isclose(_number(head) / _number(base), printed, rel_tol=2e-3, abs_tol=6e-3 if printed >= 2 else 0), (
        base,
        head,
        change,
    )


def _cells(page: str) -> Iterator[list[str]]:
    for row in re.findall(r"<tr.*?</tr>", page, re.DOTALL):
        cells = [unescape(re.sub(r"<.*?>", "", cell)).strip() for cell in re.findall(r"<td.*?</td>", row, re.DOTALL)]
        if cells:
            yield cells


def _compared(sides: tuple[list[float], list[float], list[float]], paired: bool, known: bool) -> Comparison:
    base, head, past = sides
    return compare(
        side(base), side(head, session="head"), paired=paired, past=Nights(past) if known else None
    )  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(values, st.booleans(), st.booleans())
@example(([0.25], [0.50122], [0.5] * 10), False, False)
def test_head_over_base_is_the_change(
    sides: tuple[list[float], list[float], list[float]], paired: bool, known: bool
) -> None:
    comparison = _compared(sides, paired, known)
    rows = [row for row in comparison.rows if row.metric == "time_taken_s"]
    assert rows
    for row in rows:
        _agree(*cells_of(row, str)[2:5])
    for line in comparison_markdown(comparison, everything=True).splitlines():
        if line.startswith("| entry | time"):
            _agree(*[cell.strip() for cell in line.split("|")][3:6])
    for line in _changes(comparison).splitlines():
        if line.startswith("| entry time"):
            _agree(*[cell.strip() for cell in line.split("|")][3:6])
    for cells in _cells(comparison_page(comparison)):
        if cells[1] == "time_taken_s":
            _agree(*cells[2:5])
    table = '{% from "parts.html" import change_table with context %}{{ change_table(rows, {}) }}'
    for cells in _cells(templates().from_string(table).render(rows=rows)):
        _agree(cells[0], cells[1], cells[2].split()[0])  # the verdict stands beside the change
    for written in json.loads(encode(comparison.to_json()))["rows"]:
        if written["ratio"] is not None:
            assert math.isclose(written["head"] / written["base"], written["ratio"], rel_tol=1e-9)


def test_held_against_many_nights_the_base_is_their_level() -> None:
    """The last night was an odd one: the change is not against it, so it is not what stands beside it."""
    rng = np.random.default_rng(1)
    nights = [float(value) for value in 10 * np.exp(rng.normal(0, 0.01, 30))]
    comparison = _compared(([14.0], [13.0], nights), paired=False, known=True)
    row = next(row for row in comparison.rows if row.metric == "time_taken_s")
    assert row.design == "history"
    base, head, change, *_ = cells_of(row, str)[2:]
    assert _number(base) == pytest.approx(10, rel=0.01)
    assert head == "13"
    assert change.startswith("+")
    assert comparison.to_json()["rows"][0]["base"] == pytest.approx(10, rel=0.01)


@settings(max_examples=200, deadline=None)
@given(st.floats(-3, 3), st.floats(0.001, 2), st.floats(0.001, 1), st.floats(0, 1))
def test_a_change_is_printed_against_a_bound_on_its_own_side(
    estimate: float, floor: float, margin: float, half: float
) -> None:
    """Half of the time is −50% and twice is +100%: as far in ratio, so a decrease has a bound of its own."""
    shift = Shift(estimate, estimate - half, estimate + half, 0.001, floor, 10, 0)
    verdict, reason = verdict_of(shift, "lower", margin, 0.001)
    percent = abs(math.expm1(estimate)) * 100
    changed = re.search(r"\((?:changes under|noise alone rarely exceeds) ([\d.]+)%(?: are ignored)?\)$", reason)
    if verdict in (Verdict.IMPROVED, Verdict.REGRESSED):
        assert changed
        assert ("worse" in reason) == (estimate > 0)
        assert percent >= float(changed[1]) * 0.995 - 0.1
    could = re.search(r"noise alone can reach ([\d.]+)%", reason)
    if could:
        assert float(could[1]) >= percent * 0.995 - 0.1
