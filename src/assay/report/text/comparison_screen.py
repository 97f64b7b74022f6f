"""A comparison on a terminal: the answer first, a line a metric, what is unchanged only counted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import wrap

from assay.analysis import Comparison, Row, Verdict
from assay.analysis.sentences import comparison_sentences as said
from assay.report.printable import printable
from assay.report.quantity import quantity
from assay.report.text.comparison_order import by_reason, order_rows
from assay.report.text.interval_line import IntervalScale

MARKS = {Verdict.REGRESSED: "▼", Verdict.IMPROVED: "▲", Verdict.EQUIVALENT: "="}
_COLOURS = {Verdict.REGRESSED: "31", Verdict.IMPROVED: "32"}
_CHANGED = (Verdict.REGRESSED, Verdict.IMPROVED)
_WHOLE = re.compile(r"`[^`]{1,30}`|\S+ \S+ → \S+")
_HARD_SPACE = "\u00a0"
_NARROWEST = 30
"""Columns that a reason needs beside its row; with fewer it gets lines of its own."""


def comparison_screen(comparison: Comparison, *, everything: bool, colour: bool, width: int) -> str:
    table = _Table(comparison, everything, colour, width)
    conclusion = f"{comparison.answer}: {comparison.short_reason}"
    blocks = [
        "\n".join(_join_parts(said.sides(comparison, None if everything else 4), width)),
        "\n".join(table.lines()),
        "\n".join(_wrap(conclusion, width)),
        "\n".join(line for note in comparison.notes for line in _wrap(f"note: {note}", width)),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


class _Table:
    def __init__(self, comparison: Comparison, everything: bool, colour: bool, width: int) -> None:
        self._comparison, self._everything, self._colour, self._width = comparison, everything, colour, width
        rows = order_rows(comparison)
        self._shown = [row for row in rows if everything or row.verdict is not Verdict.EQUIVALENT]
        self._changes = max((len(said.change(row)) for row in self._shown if row.ratio is not None), default=0)
        self._widths = self._columns()
        self._text_at = 2 + sum(self._widths) + 2 * len(self._widths) if self._widths else 4
        changed = [row for row in self._shown if row.verdict in _CHANGED]
        self._drawn_at = max((len(said.change(row)) for row in changed), default=0)
        room = width - self._text_at - self._drawn_at - 2 if self._widths else 0
        self._scale = IntervalScale.of(changed, room)
        self._told: set[tuple[str, str]] = set()

    def _columns(self) -> list[int]:
        """Widths of entry, metric and values, or of name and values where that is too wide; none if nothing fits, and
        then a row has two lines."""
        for count in (3, 2):
            heads = [self._head(row, count) for row in self._shown]
            widths = [max((len(head[at]) for head in heads), default=0) for at in range(count)]
            if 2 + sum(widths) + 2 * count + self._changes <= self._width:
                return widths
        return []

    def lines(self) -> list[str]:
        changed = [row for row in self._shown if row.verdict in _CHANGED]
        same = [row for row in self._shown if row.verdict is Verdict.EQUIVALENT]
        rest = [row for row in self._shown if row not in changed and row not in same]
        lines = [line for row in changed for line in self._one(row, said.change(row))]
        if self._scale.columns and any(self._scale.draw(row) for row in changed):
            lines.insert(0, " " * (self._text_at + self._drawn_at + 2) + self._scale.legend)
        for rows in by_reason(rest):
            lines += self._open(rows)
        lines += [line for row in same for line in self._one(row, said.change(row))]
        return [*lines, *([] if self._everything else self._count_unchanged())]

    def _open(self, rows: Sequence[Row]) -> Iterator[str]:
        """What one reason is for is listed, and the reason said once."""
        if len(rows) == 1:
            yield from self._one(rows[0], rows[0].reason)
            return
        for row in rows:
            yield from self._one(row, said.change(row) if row.ratio is not None else "")
        yield from _wrap(said.together(len(rows), rows[0].reason), self._width, "    ")

    def _one(self, row: Row, text: str) -> Iterator[str]:
        mark = self._paint(row.verdict, MARKS.get(row.verdict, "?"))
        cells = self._head(row, len(self._widths) or 2)
        beside = self._widths and (len(text) <= self._changes or self._width - self._text_at >= _NARROWEST)
        if beside:
            padded = (cell.ljust(width) for cell, width in zip(cells, self._widths, strict=True))
            first, *more = _wrap(text, self._width - self._text_at) or [""]
            drawn = self._scale.draw(row) if row.verdict in _CHANGED else ""
            first = f"{first.ljust(self._drawn_at)}  {drawn}" if drawn else first
            yield f"{mark} {'  '.join(padded)}  {first}".rstrip()
            yield from (" " * self._text_at + line for line in more)
        elif self._widths:
            padded = (cell.ljust(width) for cell, width in zip(cells, self._widths, strict=True))
            yield f"{mark} {'  '.join(padded)}".rstrip()
            yield from _wrap(text, self._width, "    ")
        else:
            yield f"{mark} {cells[0]}"
            yield from _wrap("  ".join(filter(None, (cells[1], text))), self._width, "    ")
        for note in row.notes:
            if (row.entry, note) not in self._told:
                self._told.add((row.entry, note))
                yield from _wrap(f"({note})", self._width, "    ")

    def _count_unchanged(self) -> list[str]:
        same = self._comparison.of(Verdict.EQUIVALENT)
        if not same:
            return []
        line, hint = f"= {said.count_unchanged(same)}", "--all shows them"
        room = self._width - len(line)
        return [line + hint.rjust(room)] if room >= len(hint) + 2 else [line, f"    {hint}"]

    def _head(self, row: Row, count: int) -> tuple[str, ...]:
        entry, metric, values = printable(row.entry), printable(row.metric), printable(_values(row))
        return (entry, metric, values) if count == 3 else (f"{entry} {metric}".rstrip(), values)

    def _paint(self, verdict: Verdict, text: str) -> str:
        code = _COLOURS.get(verdict) if self._colour else None
        return f"\x1b[{code}m{text}\x1b[0m" if code else text


def _values(row: Row) -> str:
    """A unit that both have is said once: `207.2 → 275.1 ms`."""
    if row.before is None and row.head is None:
        return ""
    before, after = quantity(row.before, row.unit), quantity(row.head, row.unit)
    unit = after.rpartition(" ")[2] if " " in after else ""
    return f"{before.removesuffix(f' {unit}') if unit else before} → {after}"


def _wrap(text: str, width: int, indent: str = "", more: str | None = None) -> list[str]:
    """No line ends within `numpy 2.4.5 → 2.4.6`, nor within a command."""
    kept = _WHOLE.sub(lambda found: found[0].replace(" ", _HARD_SPACE), printable(text))
    further = indent if more is None else more
    lines = wrap(kept, width, initial_indent=indent, subsequent_indent=further, break_on_hyphens=False)
    return [line.replace(_HARD_SPACE, " ") for line in lines]


def _join_parts(parts: Sequence[str], width: int) -> list[str]:
    """Side by side where there is room, otherwise a line each."""
    lines: list[str] = []
    for part in map(printable, parts):
        if lines and len(lines[-1]) + 3 + len(part) <= width:
            lines[-1] += f"   {part}"
        else:
            lines.append(part)
    return [piece for line in lines for piece in _wrap(line, width, more="    ")]
