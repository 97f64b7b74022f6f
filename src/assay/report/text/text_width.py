"""How many columns of a terminal a text takes, and how it is made to take fewer."""

from __future__ import annotations

import re
import textwrap
import unicodedata

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
