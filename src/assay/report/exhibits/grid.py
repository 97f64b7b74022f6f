from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    text: str
    number: bool = False
    heat: float | None = None
    """0 (as it should be) to 1 (as bad as it gets here): how strongly the cell is coloured."""
    unsure: bool = False
    """Its interval holds "no difference": shown grey."""


@dataclass(frozen=True)
class Grid:
    """A table of an entry: of scenarios, of pipelines against each other, of stages."""

    title: str
    columns: tuple[str, ...]
    """The first is the heading of the rows' names."""
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
