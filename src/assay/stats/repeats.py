"""Where to spend repeats: Kalibera & Jones, "Rigorous benchmarking in reasonable time", ISMM 2013.

A result varies between iterations of one run and between runs. Repeating iterations is cheap but cannot average out
what differs from run to run. For the cheapest given precision the number of iterations a run is √(c₂/c₁ · T₁²/T₂²),
c being the cost of a level (c₂: start-up and warm-up of a run; c₁: one iteration) and T² its own variance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf, sqrt

import numpy as np


@dataclass(frozen=True)
class Repeats:
    iterations: int
    runs: int
    """Runs of that many iterations for the relative half-width asked for."""
    within: float
    between: float
    """Coefficients of variation of the two levels; `between` is 0 if runs differ no more than their iterations."""


def plan_repeats(
    runs: Sequence[Sequence[float]], *, run_cost: float, iteration_cost: float, half_width: float = 0.02
) -> Repeats:
    """`runs` holds the iterations of each run of a pilot, warm-up left out: two runs of two at the least."""
    levels = [np.asarray(run, dtype=np.float64) for run in runs if len(run) >= 2]
    if len(levels) < 2:
        raise ValueError("a pilot needs at least two runs of at least two iterations")
    means = np.array([level.mean() for level in levels])
    mean = float(means.mean())
    within = float(np.mean([level.var(ddof=1) for level in levels]))
    size = float(np.mean([level.size for level in levels]))
    between = max(0.0, float(means.var(ddof=1)) - within / size)
    most = max(level.size for level in levels) * 100
    ratio = run_cost / iteration_cost * within / between if between > 0 else inf
    iterations = max(1, ceil(sqrt(ratio))) if ratio < most**2 else most
    variance = between + within / iterations
    runs_needed = ceil((1.96 / half_width) ** 2 * variance / mean**2) if mean else 1
    return Repeats(iterations, max(2, runs_needed), sqrt(within) / mean, sqrt(between) / mean)
