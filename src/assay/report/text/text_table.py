from __future__ import annotations

from collections.abc import Callable, Sequence

from assay.report.text.text_width import columns, end_cut, middle_cut, pad

Cell = Callable[[int, int, str], str]
_SPACE = 2
_LEAST_NAME, _LEAST_LAST = 14, 12
"""Columns that a name, and the last column, keep in a table that has to fit."""
_GOOD_LAST = 24
"""Columns that the last one keeps as long as names can be shortened."""


def text_table(
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[int] = (),
    paint: Cell = lambda row, column, cell: cell,
    most: int | None = None,
    names: Sequence[int] = (0,),
) -> str:
    """Aligned columns, the head first; the last column is as long as it is. `paint` may colour a padded cell.

    With `most`, no line is longer: the last column is cut at its end, and `names` lose their middle.
    """
    rows = rows if most is None else _fit(rows, most, names)
    last = len(rows[0]) - 1
    widths = [
        max(columns(row[column]) for row in rows) if column < last or column in right else 0
        for column in range(last + 1)
    ]
    lines = []
    for number, row in enumerate(rows):
        cells = [pad(c, w, right=i in right) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        cells[-1] = cells[-1].rstrip()
        lines.append((" " * _SPACE).join(paint(number, column, cell) for column, cell in enumerate(cells)).rstrip())
    return "\n".join(lines)


def _fit(rows: Sequence[Sequence[str]], most: int, names: Sequence[int]) -> list[list[str]]:
    widths = [max(columns(row[column]) for row in rows) for column in range(len(rows[0]))]
    over = sum(widths) + _SPACE * (len(widths) - 1) - most
    last = len(widths) - 1
    takes = [(last, _GOOD_LAST), *((name, _LEAST_NAME) for name in names), (last, _LEAST_LAST)]
    for column, least in takes:
        cut = max(0, min(over, widths[column] - least))
        widths[column] -= cut
        over -= cut
    return [
        [(middle_cut if column in names else end_cut)(cell, widths[column]) for column, cell in enumerate(row)]
        for row in rows
    ]
