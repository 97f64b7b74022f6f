from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.benchmarks.weights.tables.readings import ResultLine

Columns = Mapping[str, str | Callable[[ResultLine], str]]
"""Head → what `ResultLine.cell` fills in, such as `{compression_ratio:.2f}x`, or a function that writes the cell."""


@dataclass(frozen=True)
class Table:
    """A table as it is printed: a title, a box drawn around the columns, and what its figures mean below it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    interpretation: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        title: str,
        columns: Columns,
        lines: Iterable[ResultLine],
        interpretation: tuple[str, ...] = (),
        notes: tuple[str, ...] = (),
    ) -> Table:
        rows = [
            tuple(line.cell(each) if isinstance(each, str) else each(line) for each in columns.values())
            for line in lines
        ]
        return cls(title, tuple(columns), tuple(rows), interpretation, notes)

    def __str__(self) -> str:
        cells = [self.columns, *self.rows]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        lines = [
            f"{self.title}:",
            _rule(("┌", "┬", "┐"), widths),
            _line(self.columns, widths),
            _rule(("├", "┼", "┤"), widths),
        ]
        lines += [_line(row, widths) for row in self.rows]
        lines.append(_rule(("└", "┴", "┘"), widths))
        if self.interpretation:
            lines += ["", "Interpretation:", *(f"- {line}" for line in self.interpretation)]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)


def _rule(corners: tuple[str, str, str], widths: Sequence[int]) -> str:
    left, middle, right = corners
    return left + middle.join("─" * (width + 2) for width in widths) + right


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "│" + "│".join(f" {cell:<{width}} " for cell, width in zip(cells, widths, strict=True)) + "│"
