from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

BLOCK = 8192
"""Arrivals are drawn this many at a time: enough to make numpy cheap, few enough to stop near the end asked for."""

Arrivals = NDArray[np.int64]


class LoadScheduler(ABC):
    """When queries are sent.

    An open loop (`concurrency` is None) draws absolute times, in nanoseconds from the start, that do not depend on
    how the pipeline does. A closed loop keeps `concurrency` queries in flight and draws nothing.
    """

    concurrency: int | None = None
    rate: float | None = None
    """Queries a second asked for; None where the pipeline sets the pace."""
    seconds: float | None = None
    """Length of a schedule that ends by itself; None where it does not, or where it is not known."""
    grouped: ClassVar[bool] = False
    """A closed loop that sends `concurrency` queries at once and waits for all of them."""

    @abstractmethod
    def arrivals(self, rng: np.random.Generator) -> Iterator[Arrivals]: ...

    def ends(self, counted: bool, timed: bool) -> bool:
        """Does the schedule end, given whether a number of queries and a duration bound it?"""
        return counted or timed


def positive(name: str, value: float) -> float:
    if not value > 0:
        raise ValueError(f"{name} must be greater than 0, not {value}")
    return value
