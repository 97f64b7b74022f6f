"""When to look at an experiment that goes on until it is sure.

Looking after every pair would raise a false alarm sooner or later. It is looked at after each block only, and the looks
share the error of a single one (Bonferroni over the planned looks; Pocock's bounds, Biometrika 64, 1977, would be a
little tighter). With blocks of ten and a budget of sixty that costs about two pairs.
"""

from __future__ import annotations

from math import log1p

from assay.stats.shift import Shift

BLOCK = 10
NARROW = 1 / 3
"""Of the margin: an interval this narrow will not become another verdict by adding runs."""


def looks(budget: int, block: int = BLOCK) -> list[int]:
    """Numbers of pairs after which to judge; the last is the budget."""
    if budget < 1:
        raise ValueError("a budget of at least one pair is needed")
    return sorted({*range(block, budget, block), budget})


def narrow(shift: Shift, margin: float) -> bool:
    return (shift.high - shift.low) / 2 < NARROW * log1p(margin)
