"""More of the noise that machines make, in kind as other people's benchmarks show it: pairs of logarithms.

Each function gives `(trials, count, 2)`: the two runs of a pair in the order they happened. Which of them is A is drawn
by `random_pairs`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Rows = np.ndarray
Draw = Callable[[np.random.Generator, int, int, float], Rows]
GAP = 0.08
"""Distance between two modes, in logarithms."""


def normal(rng: np.random.Generator, trials: int, count: int, level: float) -> Rows:
    return rng.normal(0, level, (trials, count, 2))


def skewed(rng: np.random.Generator, trials: int, count: int, level: float) -> Rows:
    return rng.exponential(level, (trials, count, 2))


def heavy(rng: np.random.Generator, trials: int, count: int, level: float) -> Rows:
    return rng.standard_t(3, (trials, count, 2)) * level / np.sqrt(3)


def half_slow(rng: np.random.Generator, trials: int, count: int, level: float) -> Rows:
    return normal(rng, trials, count, level) + GAP * (rng.random((trials, count, 2)) < 0.5)


def some_slow(rng: np.random.Generator, trials: int, count: int, level: float) -> Rows:
    return normal(rng, trials, count, level) + GAP * (rng.random((trials, count, 2)) < 0.3)


def shared_modes(rng: np.random.Generator, trials: int, count: int, level: float) -> Rows:
    return normal(rng, trials, count, level) + GAP * (rng.random((trials, count, 1)) < 0.5)


def shared_step(rng: np.random.Generator, trials: int, count: int, level: float) -> Rows:
    at = rng.integers(2, count - 1, (trials, 1, 1))
    return normal(rng, trials, count, level) + 0.15 * (np.arange(count)[None, :, None] >= at)


def sticky_modes(rng: np.random.Generator, trials: int, count: int, level: float) -> Rows:
    switches = rng.random((trials, 2 * count)) < 0.15
    slow = (np.cumsum(switches, axis=1) + (rng.random((trials, 1)) < 0.5)) % 2
    return normal(rng, trials, count, level) + GAP * slow.reshape(trials, count, 2)


def bursts(rng: np.random.Generator, trials: int, count: int, level: float) -> Rows:
    """Three runs in a row a third slower, somewhere."""
    begins = rng.integers(0, 2 * count - 3, (trials, 1))
    at = np.arange(2 * count)[None]
    slow = (at >= begins) & (at < begins + 3)
    return normal(rng, trials, count, level) + 0.3 * slow.reshape(trials, count, 2)


def periodic(rng: np.random.Generator, trials: int, count: int, level: float) -> Rows:
    phase = rng.random((trials, 1)) * 2 * np.pi
    wave = 0.03 * np.sin(np.arange(2 * count)[None] * 2 * np.pi / 5 + phase)
    return normal(rng, trials, count, level) + wave.reshape(trials, count, 2)


NOISES: dict[str, Draw] = {
    "normal": normal, "skewed": skewed, "heavy tails": heavy, "two modes": half_slow, "two modes, 30%": some_slow,
    "shared modes": shared_modes, "shared step": shared_step, "sticky modes": sticky_modes, "bursts": bursts,
    "periodic": periodic,
}  # fmt: skip


def random_pairs(
    rng: np.random.Generator, noise: str, level: float, trials: int, count: int, effect: float
) -> tuple[Rows, Rows]:
    logs = NOISES[noise](rng, trials, count, level)
    swapped = rng.random((trials, count)) < 0.5
    a = np.where(swapped, logs[..., 1], logs[..., 0])
    b = np.where(swapped, logs[..., 0], logs[..., 1])
    return a, b + np.log1p(effect)
