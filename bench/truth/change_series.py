"""Series of one value a night whose steps are known. Logarithms are added; what is returned are values.

Still ones (`STILL`), 120 values each, and others (`STEPPED`) with the indices of their steps. `skewed` noise is that of
a run that is never faster than its best but often slower: 1 + level · lognormal(0, 1) over its own deviation. `modes`
are 8% apart and drawn anew each night; `sticky` ones stay with 80% and are changes of the machine, so that what is
found in them is not all false.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Random = np.random.Generator
Values = np.ndarray
Noise = Callable[[Random, int], Values]
Stepped = Callable[[Random], tuple[Values, list[int]]]
NIGHTS = 120
_SKEWED_SD = 2.1612


def normal(level: float) -> Noise:
    return lambda rng, n: rng.normal(0, level, n)


def drifting(phi: float, level: float = 0.02) -> Noise:
    def made(rng: Random, n: int) -> Values:
        values = np.empty(n)
        values[0] = rng.normal(0, level)
        fresh = rng.normal(0, level * np.sqrt(1 - phi**2), n)
        for i in range(1, n):
            values[i] = phi * values[i - 1] + fresh[i]
        return values

    return made


def skewed(level: float) -> Noise:
    return lambda rng, n: np.log1p(level * rng.lognormal(0, 1, n) / _SKEWED_SD)


def modes(share: float) -> Noise:
    return lambda rng, n: rng.normal(0, 0.01, n) + np.log(1.08) * (rng.random(n) < share)


def sticky(rng: Random, n: int) -> Values:
    moved = rng.random(n) < 0.2
    return rng.normal(0, 0.01, n) + np.log(1.08) * (np.cumsum(moved) % 2)


def heavy(level: float) -> Noise:
    return lambda rng, n: rng.standard_t(3, n) * level / np.sqrt(3)


def gamma(rng: Random, n: int) -> Values:
    return np.log1p(0.03 * rng.gamma(1.0, 1.0, n))


def wave(rng: Random, n: int) -> Values:
    return rng.normal(0, 0.02, n) + 0.02 * np.sin(2 * np.pi * (np.arange(n) / 30 + rng.random()))


def spiky(rng: Random, n: int) -> Values:
    return rng.normal(0, 0.02, n) + np.where(rng.random(n) < 0.04, np.log(rng.uniform(1.2, 2.0, n)), 0.0)


def half_drifting(rng: Random, n: int) -> Values:
    return rng.normal(0, 0.02 / np.sqrt(2), n) + drifting(0.9, 0.02 / np.sqrt(2))(rng, n)


def noisier(rng: Random, n: int) -> Values:
    return rng.normal(0, np.where(np.arange(n) < n // 2, 0.01, 0.05))


STILL: dict[str, tuple[Noise, float | None]] = {
    "normal 2%": (normal(0.02), 0.02),
    "AR .6": (drifting(0.6), 0.05),
    "AR .9": (drifting(0.9), 0.2),
    "skewed 2%": (skewed(0.02), 0.2),
    "skewed 5%": (skewed(0.05), 0.2),
    "lognormal 5%": (normal(0.05), 0.2),
    "two modes, half": (modes(0.5), 0.2),
    "two modes, 30%": (modes(0.3), 0.2),
    "two modes, 15%": (modes(0.15), 0.2),
    "t3 2%": (heavy(0.02), None),
    "gamma 3%": (gamma, None),
    "4% spikes": (spiky, None),
    "wave of 30 nights": (wave, None),
    "half white, half AR .9": (half_drifting, None),
    "1%, then 5%": (noisier, None),
    "sticky modes": (sticky, None),
}
"""Noise of series without a step, and the most false change points per series that are allowed, where a target is
set."""


def at(nights: int, *steps: tuple[int, float]) -> Values:
    logs = np.zeros(nights)
    for start, factor in steps:
        logs[start:] += np.log(factor)
    return logs


def _there_and_back(factor: float, length: int, noise: Noise, again: bool = False) -> Stepped:
    def made(rng: Random) -> tuple[Values, list[int]]:
        first = int(rng.integers(25, 55))
        second = factor if again else 1 / factor
        logs = at(NIGHTS, (first, factor), (first + length, second)) + noise(rng, NIGHTS)
        return np.exp(logs), [first, first + length]

    return made


def _one(factor: float, behind: int, noise: Noise) -> Stepped:
    first = NIGHTS - behind
    return lambda rng: (np.exp(at(NIGHTS, (first, factor)) + noise(rng, NIGHTS)), [first])


def _six(level: float, nights: int = 365) -> Stepped:
    def made(rng: Random) -> tuple[Values, list[int]]:
        places = np.sort(rng.integers(15, nights - 15, 6))
        while np.diff(places).min() < 15:
            places = np.sort(rng.integers(15, nights - 15, 6))
        factors = (1 + rng.uniform(0.04, 0.15, 6)) ** rng.choice([-1, 1], 6)
        steps = [(int(place), float(factor)) for place, factor in zip(places, factors, strict=True)]
        return np.exp(at(nights, *steps) + rng.normal(0, level, nights)), [place for place, _ in steps]

    return made


def _errors(rng: Random) -> tuple[Values, list[int]]:
    return np.concatenate([np.zeros(80), rng.poisson(5.0, 40)]), [80]


def _stopped(rng: Random) -> tuple[Values, list[int]]:
    return np.concatenate([1000 * np.exp(rng.normal(0, 0.02, 100)), np.zeros(20)]), [100]


def _negative(rng: Random) -> tuple[Values, list[int]]:
    return np.concatenate([rng.normal(-5, 0.2, 60), rng.normal(-6, 0.2, 60)]), [60]


STEPPED: dict[str, tuple[Stepped, float | None]] = {
    "+10% for 20 nights, 1%": (_there_and_back(1.1, 20, normal(0.01)), 0.95),
    "+10% for 20 nights, 2%": (_there_and_back(1.1, 20, normal(0.02)), 0.95),
    "+50% for 40 nights, 1%": (_there_and_back(1.5, 40, normal(0.01)), 0.95),
    "+50% for 40 nights, 5%": (_there_and_back(1.5, 40, normal(0.05)), 0.95),
    "+10% twice, 20 apart, 1%": (_there_and_back(1.1, 20, normal(0.01), again=True), 0.95),
    "six a year, 1%": (_six(0.01), 0.95),
    "six a year, 2%": (_six(0.02), 0.95),
    "six a year, 3%": (_six(0.03), 0.85),
    "+5%, ten behind, 2%": (_one(1.05, 10, normal(0.02)), 0.85),
    "+10%, ten behind, 2%": (_one(1.1, 10, normal(0.02)), 0.95),
    "+10%, four behind, 2%": (_one(1.1, 4, normal(0.02)), None),
    "+10%, three behind, 2%": (_one(1.1, 3, normal(0.02)), None),
    "+10%, 60 behind, 2%": (_one(1.1, 60, normal(0.02)), 0.95),
    "+5%, 60 behind, t3 2%": (_one(1.05, 60, heavy(0.02)), None),
    "+10%, 60 behind, gamma 3%": (_one(1.1, 60, gamma), None),
    "+10%, 60 behind, spikes": (_one(1.1, 60, spiky), None),
    "+10%, 60 behind, AR .6": (_one(1.1, 60, drifting(0.6)), None),
    "errors 0 to 5": (_errors, 0.95),
    "throughput to 0": (_stopped, 0.95),
    "score −5 to −6": (_negative, 0.95),
}
"""Series with steps, and the least share of the steps that must be found within two nights, where a target is set."""
