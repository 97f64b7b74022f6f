from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from typing import TextIO

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
