from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from assay.report.exhibits.weights.store_reading import StoreReading


@dataclass(frozen=True)
class StorePoint:
    """A store over all scenarios: how small, and how fast."""

    store: str
    size: float
    """Share of the plain size, geometric mean."""
    speed: float
    """Megabytes per CPU-second, median."""
    each: tuple[tuple[float, float], ...]
    """Size and speed of every scenario."""
    best: bool = False
    """No other store is both smaller and faster."""


def store_points(readings: Sequence[StoreReading], what: str) -> tuple[StorePoint, ...]:
    """`what`: `commit_speed` or `checkout_speed`. Only what every store was measured on, so that all are compared on
    the same."""
    known = [reading for reading in readings if reading.values.get(what, 0.0) > 0]
    stores = list(dict.fromkeys(reading.store for reading in known))
    cases = [{r.case for r in known if r.store == store} for store in stores]
    common = set.intersection(*cases) if cases else set()
    found = []
    for store in stores:
        own = [reading for reading in known if reading.store == store and reading.case in common]
        if own:
            size = math.exp(math.fsum(math.log(reading.share) for reading in own) / len(own))
            each = tuple((reading.share, reading.values[what]) for reading in own)
            found.append(StorePoint(store, size, median(speed for _, speed in each), each))
    return tuple(
        StorePoint(one.store, one.size, one.speed, one.each, not any(_better(other, one) for other in found))
        for one in found
    )


def _better(other: StorePoint, one: StorePoint) -> bool:
    """Whether the other is better on Pareto's terms: no worse in size and speed, better in one."""
    return other.size <= one.size and other.speed >= one.speed and (other.size < one.size or other.speed > one.speed)
