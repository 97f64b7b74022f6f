"""How much a series moves by itself, told apart from changes of its level.

Differences of neighbours cancel a level, so their mean square needs no knowledge of the steps; what is left around the
steps found tells the autocorrelation, which differences tell only roughly. The price of a step rests on the long-run
variance, σ²·(1 + ρ)/(1 − ρ) for AR(1) noise: the variance of a mean of k such values is about that over k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.stats.intervals import Floats

_MOST_CORRELATED = 0.95
_QUARTILE_TO_SIGMA = 1.1503
"""Upper quartile of |z| of normal noise. The median instead would take a mode that holds a third of the runs for
outliers."""
_REACH = 3.0
_TAKEN = 2.0
"""Degrees of freedom that a segment costs: put where it explains most, it takes as much noise as two put anywhere."""


def white_sigma(series: Floats) -> float:
    """Standard deviation of independent noise with these differences. A larger one (step, spike) counts as three times
    the usual size."""
    sizes = np.abs(np.diff(series))
    if sizes.size == 0:
        return 0.0
    usual = float(np.quantile(sizes, 0.75)) / _QUARTILE_TO_SIGMA
    return float(np.sqrt(np.mean(np.minimum(sizes, _REACH * usual) ** 2) / 2))


@dataclass(frozen=True)
class Noise:
    """AR(1) noise."""

    sigma: float
    rho: float

    @property
    def long_run(self) -> float:
        """Variance of the mean of k values is about this over k."""
        return self.sigma**2 * (1 + self.rho) / (1 - self.rho)

    @property
    def fresh(self) -> float:
        """Standard deviation of what each value adds to what its predecessor foretells."""
        return self.sigma * float(np.sqrt(1 - self.rho**2))


SILENCE = Noise(0.0, 0.0)


def noise_around(distances: Floats, cuts: int, reach: float) -> Noise:
    """Noise around the levels. `distances`: of the values from their levels, each counted as at most `reach`; `cuts`:
    number of steps between the levels."""
    left = np.clip(distances, -reach, reach)
    left -= left.mean()
    taken = 1 + _TAKEN * cuts
    n = left.size
    square = float(left @ left)
    if square == 0 or n <= taken:
        return SILENCE
    measured = float(left[1:] @ left[:-1]) / square
    # Taking levels out makes the rest look less correlated than it was (Marriott & Pope, 1954).
    rho = min(_MOST_CORRELATED, max(0.0, measured + (1 + 3 * measured) * taken / n))
    return Noise(float(np.sqrt(square / (n - taken))), rho)
