"""A comparison on a terminal: the answer first, a line a metric, what is unchanged only counted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log
from shutil import get_terminal_size
from textwrap import wrap

from assay.analysis import Comparison, Row, Verdict
from assay.analysis.comparison import GRAVEST_FIRST
from assay.analysis.conditions import also_different
from assay.analysis.sentences import comparison_sentences as said
from assay.analysis.sentences.comparison_sentences import count_unchanged
from assay.analysis.sentences.conclusion_sentences import count_verdicts, verdict_word
from assay.report.quantity import percent, printable, quantity


def order_rows(comparison: Comparison) -> list[Row]:
    """What somebody has to look at first; within a verdict exact metrics, then the largest change."""
    return sorted(
        comparison.rows,
        key=lambda row: (
            GRAVEST_FIRST.index(row.verdict),
            row.design != "exact",
            -abs((row.ratio or 1.0) - 1.0),
            row.entry,
            row.metric,
        ),
    )


def by_reason(rows: Iterable[Row]) -> list[Sequence[Row]]:
    """Rows that one sentence explains, together, in the order they come in."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.reason, []).append(row)
    return list(groups.values())


_FEWEST, _MOST = 15, 31
"""Columns of a drawing."""
_NEAR, _FAR = log(1.05), log(4)
"""The scale ends between 5% and a factor of 4."""


@dataclass(frozen=True)
class IntervalScale:
    """Intervals of one table drawn on one scale, `├──●──┤`, no change in the middle, worse to the left."""

    columns: int
    """Odd; 0 where there is no room."""
    reach: float
    """Logarithm at either end."""

    @classmethod
    def of(cls, rows: Iterable[Row], room: int) -> IntervalScale:
        ends = [abs(log(end)) for row in rows for end in (row.low, row.high) if end and end > 0]
        columns = min(room, _MOST)
        return cls(columns - (columns + 1) % 2 if columns >= _FEWEST else 0, min(max([_NEAR, *ends]), _FAR))

    @property
    def legend(self) -> str:
        half = self.columns // 2
        return f"{'worse '.rjust(half)}|{' better'.ljust(half)}".rstrip()

    def draw(self, row: Row) -> str:
        """Nothing where there is no interval, no direction or no room."""
        if not (self.columns and row.better and row.low and row.high and row.ratio):
            return ""
        places = [self._at(end, row.better == "lower") for end in (row.low, row.high, row.ratio)]
        first, last, middle = min(places[:2]), max(places[:2]), places[2]
        cells = [" "] * self.columns
        cells[self.columns // 2] = "|"
        cells[first : last + 1] = "─" * (last + 1 - first)
        cells[first], cells[last] = "├", "┤"
        cells[middle] = "●"
        return "".join(cells).rstrip()

    def _at(self, ratio: float, lower_is_better: bool) -> int:
        share = max(-1.0, min(1.0, log(ratio) / self.reach * (-1 if lower_is_better else 1)))
        return round((share + 1) / 2 * (self.columns - 1))


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


# A comparison as text for the terminal, or as Markdown for a pull request.

_LOUD = (Verdict.REGRESSED, Verdict.IMPROVED)
_MARKUP = str.maketrans({char: f"&#{ord(char)};" for char in "\\`*[]<>|#@~&"})
_PARTED = re.compile(r"&#(64|35);|:(?=//)|www(?=\.)", re.IGNORECASE)
_HEAD = ("entry", "metric", "A", "B", "change", "interval", "runs", "verdict")


def comparison_text(
    comparison: Comparison, *, everything: bool = False, colour: bool = False, width: int | None = None
) -> str:
    """Without `everything`, what is equivalent is only counted. `width`: of the terminal, if it is not to be asked."""
    columns = get_terminal_size((80, 24)).columns if width is None else width
    return comparison_screen(comparison, everything=everything, colour=colour, width=max(columns, 40))


def _choose_rows(comparison: Comparison, everything: bool) -> list[Row]:
    return [row for row in order_rows(comparison) if everything or row.verdict is not Verdict.EQUIVALENT]


def cells_of(row: Row, safe: Callable[[str], str]) -> tuple[str, ...]:
    """One row as words; `safe` makes a program's own text harmless where it is shown."""
    why = "; ".join([row.reason, *row.notes]) if row.reason else ""
    return (
        safe(row.entry),
        safe(row.metric),
        safe(quantity(row.before, row.unit)),
        safe(quantity(row.head, row.unit)),
        change(row),
        interval(row),
        f"{row.base_runs}+{row.head_runs}" if row.metric else "",
        verdict_word(row.verdict) + (f": {safe(why)}" if why else ""),
    )


def change(row: Row) -> str:
    return "–" if row.ratio is None else percent(row.ratio)


def interval(row: Row) -> str:
    return "–" if row.low is None or row.high is None else f"{percent(row.low)} to {percent(row.high)}"


def counts_line(comparison: Comparison) -> str:
    return count_verdicts({str(verdict): comparison.counts[verdict] for verdict in GRAVEST_FIRST})


def _conclusion(comparison: Comparison) -> str:
    return f"{comparison.answer}: {comparison.reason}"


def comparison_markdown(comparison: Comparison, *, everything: bool = False) -> str:
    """Notable rows open, the equivalent ones folded away: a pull request shows what matters."""
    rows = _choose_rows(comparison, everything=False)
    same = comparison.of(Verdict.EQUIVALENT)
    base, head = _code(comparison.base.removeprefix("A: ")), _code(comparison.head.removeprefix("B: "))
    blocks = [
        f"### {_escape(_conclusion(comparison))}",
        f"A = `{base}`, B = `{head}`: {counts_line(comparison)}",
    ]
    if rows:
        blocks.append(_markdown_table(rows))
    if same:
        opened = " open" if everything else ""
        blocks.append(
            f"<details{opened}><summary>{count_unchanged(same)}</summary>\n\n{_markdown_table(same)}\n\n</details>"
        )
    blocks += [f"> {_escape(note)}" for note in comparison.notes]
    besides = also_different(comparison.environment, most=None if everything else 10)
    blocks += [_escape(besides)] if besides else []
    return "\n\n".join(blocks) + "\n"


def _markdown_table(rows: Sequence[Row]) -> str:
    lines = ["| " + " | ".join(_HEAD) + " |", "|---|---|--:|--:|--:|---|---|---|"]
    for row in rows:
        cells = list(cells_of(row, _escape))
        if row.verdict in _LOUD:
            cells[7] = f"**{row.verdict}**" + cells[7].removeprefix(str(row.verdict))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _escape(text: str) -> str:
    """A metric may be called anything: nothing of it may become markup, a link or a mention. GitHub and GitLab look for
    addresses, names and numbers once more in what was rendered, so that a space of no width has to part them."""
    return _PARTED.sub(r"\g<0>&#8203;", printable(text).replace("\t", " ").translate(_MARKUP))


def _code(text: str) -> str:
    return printable(text).replace("`", "'")
