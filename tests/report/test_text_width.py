from __future__ import annotations

import pytest

from assay.report.text.screen import columns, end_cut, middle_cut, pad, text_table, wrap_text


def test_columns_are_those_of_a_terminal() -> None:
    assert columns("größe") == 5
    assert columns("größe".encode().decode()) == 5
    assert columns("gro\u0308ße") == 5
    assert columns("日本") == 4
    assert columns("✅") == 2
    assert columns("\x1b[31mred\x1b[0m") == 3


@pytest.mark.parametrize("most", range(40))
@pytest.mark.parametrize("text", ["removal_ray_with_a_very_long_name", "日本語の名前がとても長いとき", "short"])
def test_nothing_is_wider_than_it_may_be(text: str, most: int) -> None:
    for cut in (middle_cut(text, most), end_cut(text, max(1, most))):
        assert columns(cut) <= max(1, most)
    if most >= columns(text):
        assert middle_cut(text, most) == end_cut(text, most) == text


def test_a_name_keeps_both_its_ends() -> None:
    assert middle_cut("nightly-removal-local-large", 15) == "nightly-…-large"


def test_padding_counts_columns() -> None:
    assert pad("日本", 6) == "日本  "
    assert pad("ab", 4, right=True) == "  ab"


def test_wrapping() -> None:
    assert wrap_text("one two three", 9, "  ") == "  one two\n    three"
    assert wrap_text("one two three", None, "  ") == "  one two three"
    assert wrap_text("/a/path/that/is/long", 8) == "/a/path/that/is/long"


ROWS = [
    ("entry", "runs", "time", "measured"),
    ("a-very-long-entry-name-that-goes-on-and-on", "6/6", "12.4 s", "rows_per_s 998.2 1/s, windows 181, and more"),
    ("b", "1/6", "1 s", ""),
]


def test_a_table_without_a_limit_is_as_wide_as_it_is() -> None:
    assert "a-very-long-entry-name-that-goes-on-and-on   6/6  12.4 s  rows_per_s 998.2 1/s" in text_table(
        ROWS, right=(1, 2)
    )


@pytest.mark.parametrize("most", [60, 80, 100])
def test_a_table_fits(most: int) -> None:
    lines = text_table(ROWS, right=(1, 2), most=most).splitlines()
    assert max(map(columns, lines)) <= most
    assert "6/6  12.4 s" in lines[1]


def test_the_last_column_gives_way_before_names_do() -> None:
    lines = text_table(ROWS, right=(1, 2), most=90).splitlines()
    assert lines[1].startswith("a-very-long-entry-name-that-goes-on-and-on ")
    assert lines[1].endswith("…")
    assert "…" in text_table(ROWS, right=(1, 2), most=50).splitlines()[1][:20]


def test_a_last_column_can_stand_at_the_right() -> None:
    assert text_table([("a", "n"), ("b", "100"), ("c", "1")], right=(1,)) == "a    n\nb  100\nc    1"
