"""Where a run settles: MSER-5 (White, Cobb & Spratt, "A comparison of five steady-state truncation heuristics for
simulation", WSC 2000) on a series whose spikes are clipped first, since one slow iteration late in the run would
otherwise pull the cut towards it.

Batches of five; the cut is where the squared standard error of the mean of what remains is smallest. Warm-up is
reported, never deleted: what to leave out is the reader's decision.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from assay.stats.intervals import Floats, finite
from assay.stats.robust import clip_spikes

BATCH = 5
FEWEST_FOR_MSER = 20
LATEST_CUT = 0.4
_SLOW_FIRST = 1.25
_STANDS_OUT = 3.0


@dataclass(frozen=True)
class WarmupCut:
    """`cut` iterations belong to warm-up. `steady` is False when no steady state was found.
    Its public name is `assay.stats.Warmup`."""

    cut: int
    iterations: int
    steady: bool
    note: str

    @property
    def share(self) -> float:
        return self.cut / self.iterations if self.iterations else 0.0


def find_warmup(series: ArrayLike, *, fixed: int = 1) -> WarmupCut:
    values = finite(series)
    n = int(values.size)
    if n < FEWEST_FOR_MSER:
        return _short(values, fixed)
    clipped = clip_spikes(values)
    cut = _mser(clipped)
    if not _differs(clipped[:cut], clipped[cut:]):
        return WarmupCut(0, n, True, "")
    if cut > LATEST_CUT * n:
        return WarmupCut(cut, n, False, f"no steady state: it still settles after {cut} of {n} iterations; run longer")
    note = f"warm-up: the first {cut} of {n} iterations differ from the rest" if cut else ""
    return WarmupCut(cut, n, True, note)


def _short(values: Floats, fixed: int) -> WarmupCut:
    """A warm-up of fixed length, for too few values for MSER; with a note if the first was really slow."""
    n = int(values.size)
    if n < 3:
        return WarmupCut(0, n, False, f"{n} iterations are too few to see a warm-up")
    rest = float(np.median(values[1:]))
    if rest > 0 and values[0] > _SLOW_FIRST * rest:
        slower = values[0] / rest
        return WarmupCut(
            min(fixed, n - 1), n, True, f"the first iteration took {slower:.2g} times the median of the rest"
        )
    return WarmupCut(0, n, True, "")


def _differs(head: Floats, rest: Floats) -> bool:
    """Whether the head stands out from the rest. MSER always finds a smallest value, on plain noise anywhere: only a
    head that stands out is a warm-up."""
    if head.size == 0:
        return False
    error = float(np.std(rest)) * (1 / head.size + 1 / rest.size) ** 0.5
    return bool(abs(head.mean() - rest.mean()) > _STANDS_OUT * error)


def _mser(values: Floats) -> int:
    batches = values[: values.size // BATCH * BATCH].reshape(-1, BATCH).mean(axis=1)
    # Sums of the tails, from the last batch backwards: one pass instead of one variance a cut.
    remaining = np.arange(batches.size, 0, -1, dtype=np.float64)
    centred = batches - batches.mean()
    total = np.cumsum(centred[::-1])[::-1]
    squares = np.cumsum(centred[::-1] ** 2)[::-1]
    score = (squares - total**2 / remaining) / remaining**2
    # The last few cuts rest on a handful of batches and can look perfect by chance.
    return int(np.argmin(score[: max(1, batches.size - 4)])) * BATCH
