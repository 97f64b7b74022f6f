"""The noise of shared machines, made on purpose, so that the truth is known.

Logarithms of run times, in the order the runs happen:

- `white`: independent normal noise with standard deviation = level.
- `drift`: half the variance independent, half an AR(1) process with φ = 0.9 a run, together = level. The machine is a
  little faster or slower for minutes at a time.
- `spikes`: white noise of the level, and 4% of the runs take 1.2 to 2 times as long (uniform).
- `all`: drift and spikes.

`pairs` runs A and B next to each other, in an order drawn anew for each pair. `blocks` runs all of A, then all of B, as
is usual. `series` is one value a session over time: `phi` = 0 white, 0.6 AR(1), with the same spikes if asked.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

Kind = Literal["white", "drift", "spikes", "all"]
KINDS: tuple[Kind, ...] = ("white", "drift", "spikes", "all")
LEVELS = (0.01, 0.02, 0.05)
PHI = 0.9
SPIKE_SHARE = 0.04
SPIKE_SIZE = (1.2, 2.0)

Rows = np.ndarray


def runs(rng: np.random.Generator, kind: Kind, level: float, trials: int, count: int) -> Rows:
    wanders = kind in ("drift", "all")
    own = level * np.sqrt(0.5) if wanders else level
    logs = rng.normal(0, own, (trials, count))
    if wanders:
        logs += ar1(rng, PHI, level * np.sqrt(0.5), trials, count)
    return logs + _spikes(rng, logs.shape) if kind in ("spikes", "all") else logs


def ar1(rng: np.random.Generator, phi: float, sigma: float, trials: int, count: int) -> Rows:
    """Stationary from the first value on."""
    values = np.empty((trials, count))
    values[:, 0] = rng.normal(0, sigma, trials)
    fresh = rng.normal(0, sigma * np.sqrt(1 - phi**2), (trials, count))
    for i in range(1, count):
        values[:, i] = phi * values[:, i - 1] + fresh[:, i]
    return values


def pairs(
    rng: np.random.Generator, kind: Kind, level: float, trials: int, count: int, effect: float
) -> tuple[Rows, Rows]:
    logs = runs(rng, kind, level, trials, 2 * count).reshape(trials, count, 2)
    swapped = rng.random((trials, count)) < 0.5
    first, second = logs[..., 0], logs[..., 1]
    a, b = np.where(swapped, second, first), np.where(swapped, first, second)
    return a, b + np.log1p(effect)


def blocks(
    rng: np.random.Generator, kind: Kind, level: float, trials: int, count: int, effect: float
) -> tuple[Rows, Rows]:
    logs = runs(rng, kind, level, trials, 2 * count)
    return logs[:, :count], logs[:, count:] + np.log1p(effect)


def series(
    rng: np.random.Generator, phi: float, level: float, trials: int, step: float, *, spikes: bool, count: int = 120
) -> Rows:
    """Values, not logarithms; the step is ten values from the end."""
    logs = ar1(rng, phi, level, trials, count)
    if spikes:
        logs = logs + _spikes(rng, logs.shape)
    logs[:, count - 10 :] += np.log1p(step)
    return np.exp(logs)


def _spikes(rng: np.random.Generator, shape: tuple[int, ...]) -> Rows:
    return np.where(rng.random(shape) < SPIKE_SHARE, np.log(rng.uniform(*SPIKE_SIZE, shape)), 0.0)
