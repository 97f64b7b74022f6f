from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SideNames:
    """How the two sides of a comparison are spoken of, as the end of a phrase: `only in A`, `12 runs now`."""

    base: str
    head: str


A_AND_B = SideNames("in A", "in B")
"""Names in `compare` and `ab`, which say what A and B are."""
BEFORE_AND_NOW = SideNames("before", "now")
"""Names at the end of a run, where nobody named two sides."""
BASE_AND_HEAD = SideNames("in base", "in head")
"""Names in `judge`, whose arguments are called so."""
