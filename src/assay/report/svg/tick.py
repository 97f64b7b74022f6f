from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tick:
    at: float
    """Where it stands, as a share of its axis."""
    label: str
    under: str = ""
    """A second line: the day of an hour, the year of a month."""

    @property
    def width(self) -> int:
        """Width of the label, in characters."""
        return max(len(self.label), len(self.under))
