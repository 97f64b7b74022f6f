"""How `assay compare` looks on a terminal: it fits, is aligned, and says nothing twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.analysis import Comparison, Row, Verdict
from assay.analysis.conditions import Difference
from assay.report.text.comparison import comparison_text

SLOWER = Row("alm_xenna", "rows_per_s", Verdict.REGRESSED, "11% slower", "1/s", "higher", 999.0, 891.0, 891 / 999,
             0.87, 0.91, margin=0.03, base_runs=6, head_runs=6)  # fmt: skip
FASTER = replace(SLOWER, entry="dedup", metric="time_s", verdict=Verdict.IMPROVED, unit="s", better="lower",
                 base=12.4, head=11.1, ratio=11.1 / 12.4, low=0.88, high=0.91)  # fmt: skip
REASON = "can't tell: between 6.0% faster and 38% slower; try `assay ab`, which runs both in turn"
OPEN = replace(
    FASTER, entry="serving", metric="p99_s", verdict=Verdict.INCONCLUSIVE, reason=REASON, low=0.94, high=1.38
)
SAME = replace(SLOWER, metric="rows", verdict=Verdict.EQUIVALENT, ratio=1.0, low=0.99, high=1.01)
NUMPY = Difference("package", "numpy", "2.4.5", "2.4.6")
WHOLE = Comparison("nightly 11-15", "nightly 11-16", (SLOWER, FASTER, OPEN, SAME, replace(SAME, metric="x")),
                   environment=(NUMPY,))  # fmt: skip


def test_it_reads_from_the_gravest_down() -> None:
    lines = comparison_text(WHOLE, width=100).splitlines()
    assert lines[0] == "A = nightly 11-15 (6 runs)   B = nightly 11-16 (6 runs)   Also different: numpy 2.4.5 → 2.4.6"
    marks = [line[0] for line in lines[2:] if line and line[0] in "▼▲?="]
    assert marks == ["▼", "▲", "?", "="]
    assert lines[-1] == "regressed: 1 of 5 metrics; 1 improved, 1 inconclusive, 2 unchanged"


def test_what_is_unchanged_is_counted_or_listed() -> None:
    assert "= 2 metrics unchanged (within 3%)" in comparison_text(WHOLE, width=80)
    everything = comparison_text(WHOLE, width=80, everything=True)
    assert "--all" not in everything
    assert sum(line.startswith("=") for line in everything.splitlines()) == 2


def test_worse_is_left_and_better_right_of_no_change() -> None:
    lines = {line[0]: line for line in comparison_text(WHOLE, width=120).splitlines() if line and line[0] in "▼▲"}
    at = lines["▲"].index("|")
    assert lines["▼"].index("|") == at
    assert lines["▼"].index("●") < at < lines["▲"].index("●")


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160])
@pytest.mark.parametrize("name", ["a", "an_entry_of_a_long_name", "an_entry_whose_name_is_very_much_longer_than_that"])
def test_it_fits_the_terminal(width: int, name: str) -> None:
    rows = tuple(replace(row, entry=f"{name}-{at}") for at, row in enumerate(WHOLE.rows))
    text = comparison_text(replace(WHOLE, rows=rows, notes=("a note " * 30,)), width=width)
    long = [line for line in text.splitlines() if len(line) > width]
    # A name is never cut: who copies it must get all of it.
    assert all(line[2:].startswith(name) for line in long)
    assert "\x1b" not in text


def test_a_reason_that_rows_share_is_said_once() -> None:
    few = replace(
        OPEN,
        reason="can't tell from one run on each side; needs 3 more on each: try `assay ab`, or `repeat: 6`",
        low=None,
        high=None,
    )
    rows = tuple(replace(few, metric=f"m{at}") for at in range(4))
    text = comparison_text(replace(WHOLE, rows=rows), width=100)
    assert text.count("one run on each side") == 1
    assert "4 inconclusive: can't tell from one run on each side" in text
    assert sum(line.startswith("?") for line in text.splitlines()) == 4


def test_a_note_of_an_entry_is_said_once() -> None:
    noted = [replace(row, entry="one", notes=("CPUs kept busy: 0.0 in A, 1.2 in B",)) for row in (SLOWER, FASTER)]
    assert comparison_text(replace(WHOLE, rows=tuple(noted)), width=100).count("CPUs kept busy") == 1


def test_sides_without_values_and_a_zero_before_are_shown_without_a_ratio() -> None:
    gone = Row("sort", "b_s", Verdict.NOT_COMPARABLE, "only in A", only_in="base")
    zero = replace(
        SLOWER, base=0.0, head=5.0, ratio=None, low=None, high=None, unit=None, reason="0 → 5, which is worse"
    )
    text = comparison_text(replace(WHOLE, rows=(zero, gone)), width=80)
    assert "0 → 5, which is worse" in text
    assert "? sort       b_s" in text
    assert "only in A" in text


def test_colour_is_of_the_mark_alone() -> None:
    text = comparison_text(WHOLE, width=80, colour=True)
    assert "\x1b[31m▼\x1b[0m " in text
    assert "\x1b[32m▲\x1b[0m " in text
