"""The style sheets of pages, and of a chart that stands outside of one."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
SHEETS = ("colours.css", "style.css", "chart.css", "colocation.css", "serving.css", "weights.css", "print.css")
"""What is printed comes last: it overrides the others."""


@lru_cache(maxsize=1)
def page_style() -> str:
    """Without what only its authors read: every page carries it."""
    return re.sub(r"/\*.*?\*/|\n\s*", "", "".join(_read(name) for name in SHEETS), flags=re.DOTALL)


def chart_style(root: str) -> str:
    """Colours and charts alone, with colours for what is inside `root` only."""
    return _read("colours.css").replace(":root", root) + _read("chart.css")


def _read(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")
