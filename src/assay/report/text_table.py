from __future__ import annotations

from collections.abc import Callable, Sequence

Cell = Callable[[int, int, str], str]


def text_table(
    rows: Sequence[Sequence[str]], *, right: Sequence[int] = (), paint: Cell = lambda row, column, cell: cell
) -> str:
    """Aligned columns, the head first; the last column is as long as it is. `paint` may colour a padded cell."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)] + [0]
    lines = []
    for number, row in enumerate(rows):
        padded = [c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        padded[-1] = padded[-1].rstrip()
        lines.append("  ".join(paint(number, column, cell) for column, cell in enumerate(padded)).rstrip())
    return "\n".join(lines)
