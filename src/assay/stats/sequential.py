"""When to look at an experiment that goes on until it is sure.

Looking after every pair would raise a false alarm sooner or later. It is looked at after each block only, and the looks
share the error of a single one (Bonferroni over the planned looks; Pocock's bounds, Biometrika 64, 1977, would be a
little tighter). With blocks of ten and a budget of sixty that costs about two pairs.
"""

from __future__ import annotations

BLOCK = 10


def looks(budget: int, block: int = BLOCK) -> list[int]:
    """Numbers of pairs after which to judge; the last is the budget."""
    if budget < 1:
        raise ValueError("a budget of at least one pair is needed")
    return sorted({*range(block, budget, block), budget})
