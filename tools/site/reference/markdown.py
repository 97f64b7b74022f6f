"""Pieces of Markdown that every generated page is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

BEGIN = "<!-- Made from the code by `make docs`; what it says is changed there. -->"


def page(title: str, summary: str, parts: Iterable[str]) -> str:
    return "\n\n".join([f"# {title}", BEGIN, summary, *parts]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(map(cell, row))} |" for row in rows)])


def cell(text: str) -> str:
    """The text on one line, with nothing in it that would end the cell."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """The text as code, whatever is in it."""
    if not text:
        return ""
    ticks = "``" if "`" in text else "`"
    pad = " " if "`" in text else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def prose(text: str) -> str:
    """Outside of `code`, placeholders such as <name> are text and not tags, and * is no emphasis."""
    pieces = text.split("`")
    for at in range(0, len(pieces), 2):
        pieces[at] = pieces[at].replace("<", "&lt;").replace("*", "\\*")
    return "`".join(pieces)
