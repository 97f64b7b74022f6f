from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Passage:
    """A document, or a row of a database as text."""

    id: str
    text: str
    row: bool = False
