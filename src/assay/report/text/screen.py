"""How many columns of a terminal a text takes, and how it is made to take fewer."""

from __future__ import annotations

import math
import os
import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TextIO

from assay.report.quantity import duration

_COLOURS = {"good": "32", "bad": "31", "dim": "2", "bold": "1"}
_NARROWEST = 40


@dataclass(frozen=True)
class Screen:
    """Where text goes: what it can show, and how much of it in a line."""

    colour: bool = False
    width: int | None = None
    """Columns; None where a line may be as long as it is: a file, a pipe."""

    @classmethod
    def of(cls, stream: TextIO | None = None) -> Screen:
        stream = stream or sys.stdout
        return cls(colour=has_colour(stream), width=width_of(stream))

    def paint(self, how: str, text: str) -> str:
        return f"\x1b[{_COLOURS[how]}m{text}\x1b[0m" if self.colour and text else text


PLAIN = Screen()


def has_colour(stream: TextIO | None = None) -> bool:
    return is_terminal(stream or sys.stdout) and "NO_COLOR" not in os.environ


def is_terminal(stream: TextIO) -> bool:
    """Whether the stream is a terminal whose cursor can be moved."""
    try:
        return stream.isatty() and os.environ.get("TERM") != "dumb"
    except (OSError, ValueError):  # ValueError: closed
        return False


def width_of(stream: TextIO) -> int | None:
    """None for what is no terminal. One that does not know its width is as wide as $COLUMNS says, otherwise 80."""
    if not is_terminal(stream):
        return None
    try:
        known = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        known = 0
    return max(_NARROWEST, known or shutil.get_terminal_size().columns)


def height_of(stream: TextIO) -> int:
    try:
        known = os.get_terminal_size(stream.fileno()).lines
    except (OSError, ValueError):
        known = 0
    return known or 24


GAP = "…"
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def columns(text: str) -> int:
    """Letters of East Asian scripts and emoji take two, accents of their own none; colours of ours are not counted."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    return len(text) if text.isascii() else sum(_of_letter(letter) for letter in text)


def middle_cut(text: str, most: int) -> str:
    """The text in at most `most` columns. A long name loses its middle: what tells names apart stands at both ends."""
    if columns(text) <= most:
        return text
    if most < 3:
        return GAP[:most]
    head = _first(text, (most - 1) * 3 // 5)
    return head + GAP + _first(text[::-1], most - 1 - columns(head))[::-1]


def end_cut(text: str, most: int) -> str:
    """The text in at most `most` columns: a sentence loses its end."""
    return text if columns(text) <= most else _first(text, max(0, most - 1)).rstrip() + GAP


def wrap_text(text: str, most: int | None, indent: str = "") -> str:
    """The text on as many lines as it takes, further ones indented by two more columns. `most` None: on one line."""
    if most is None:
        return indent + text
    further = indent + "  "
    words = textwrap.TextWrapper(
        most, initial_indent=indent, subsequent_indent=further, break_long_words=False, break_on_hyphens=False
    )
    return words.fill(text)


def pad(text: str, width: int, *, right: bool = False) -> str:
    space = " " * max(0, width - columns(text))
    return space + text if right else text + space


def _of_letter(letter: str) -> int:
    if unicodedata.combining(letter) or letter in "\ufe0f\u200d":
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _first(text: str, most: int) -> str:
    taken = used = 0
    for letter in text:
        used += _of_letter(letter)
        if used > most:
            break
        taken += 1
    return text[:taken]


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


# Times of several runs in words: one unit and as many digits for all of them.

_STEPS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_BLOCKS = "▁▂▃▄▅▆▇█"
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")


class TimeFormat:
    """The unit for times around their mean, and as many digits as their spread leaves meaning: two of that."""

    def __init__(self, seconds: Sequence[float]) -> None:
        self.mean = fmean(seconds)
        self.spread = stdev(seconds) if len(seconds) > 1 else 0.0
        self._unit_s, self.unit = next((step for step in _STEPS if self.mean >= step[0]), _STEPS[-1])
        most = _digits(self.mean / self._unit_s, 4)
        self._digits = min(most, max(1, _digits(self.spread / self._unit_s, 2))) if self.spread else most

    def bare(self, seconds: float) -> str:
        return f"{seconds / self._unit_s:.{self._digits}f}"

    def __call__(self, seconds: float) -> str:
        return f"{self.bare(seconds)} {self.unit}"


def _digits(value: float, meaning: int) -> int:
    """Digits after the point that show `meaning` digits of a value."""
    return max(0, meaning - 1 - math.floor(math.log10(value))) if value > 0 else 3


def plain_times(seconds: Sequence[float]) -> list[float]:
    """The times without impossible ones: records may come from anywhere."""
    return [time for time in seconds if time >= 0]


def mean_and_spread(seconds: Sequence[float]) -> str:
    """`412.6 ms ± 5.1 ms`: the mean and the standard deviation; of one run its time alone."""
    seconds = plain_times(seconds)
    if not seconds:
        return "–"
    scale = TimeFormat(seconds)
    if scale.mean < 60:
        return scale(scale.mean) + (f" ± {scale(scale.spread)}" if len(seconds) > 1 else "")
    spread = f"{scale.spread:.1f} s" if scale.spread < 60 else duration(scale.spread)
    return duration(scale.mean) + (f" ± {spread}" if len(seconds) > 1 else "")


def distribution(values: Sequence[float], width: int = 16) -> str:
    """How often values fell where between the least and the largest; an empty place is a space."""
    low, high = min(values), max(values)
    if len(values) < 3 or low == high:
        return ""
    counts = [0] * width
    for value in values:
        counts[min(width - 1, int((value - low) / (high - low) * width))] += 1
    top = max(counts)
    return "".join(_BLOCKS[math.ceil(count / top * 8) - 1] if count else " " for count in counts)


def bar(share: float, width: int) -> str:
    """A share of `width` columns, in eighths; whatever is above nothing can be seen."""
    eighths = max(1, round(min(1.0, share) * width * 8)) if share > 0 else 0
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8]


def progress_bar(share: float, width: int) -> str:
    done = min(width, int(share * width))
    return ("━" * done + ("╸" if 0 < share < 1 and done < width else "")).ljust(width)
