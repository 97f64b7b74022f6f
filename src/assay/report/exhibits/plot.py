from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Plot:
    """A line chart that the page's script draws."""

    title: str
    unit: str
    x: tuple[float, ...]
    lines: tuple[tuple[str, tuple[float, ...]], ...]
    says: str
    """The same in words, for who cannot see it."""
    x_name: str = "s"

    def to_json(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "unit": self.unit,
            "x": self.x,
            "xName": self.x_name,
            "names": [name for name, _ in self.lines],
            "lines": [values for _, values in self.lines],
        }
