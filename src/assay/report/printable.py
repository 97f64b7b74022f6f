"""Text that programs wrote, made safe to show: escape sequences and other control characters become visible."""

from __future__ import annotations

import re
import unicodedata

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def printable(text: str, *, keep_lines: bool = False) -> str:
    """Colours are dropped; anything else that could move a terminal's cursor or turn text around is written out."""
    if text.isprintable():
        return text
    return "".join(_make_visible(char, keep_lines) for char in _COLOURS.sub("", text))


def _make_visible(char: str, keep_lines: bool) -> str:
    if char == "\t" or (keep_lines and char == "\n"):
        return char
    # Cc: control, Cf: format (among them the marks that reverse direction), Cs: lone surrogates.
    if unicodedata.category(char) in ("Cc", "Cf", "Cs"):
        return f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"
    return char
