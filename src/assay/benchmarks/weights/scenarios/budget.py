from __future__ import annotations

import time
from collections.abc import Callable, Iterator


class ScenarioBudget:
    """The seconds a scenario may take. It bounds how often something is repeated, never what is measured once."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._start = clock()

    @property
    def spent(self) -> float:
        return self._clock() - self._start

    @property
    def left(self) -> float:
        return self.seconds - self.spent

    def affords(self, seconds: float) -> bool:
        return seconds <= self.left

    def part(self, share: float) -> ScenarioBudget:
        """Budget of one of several steps: a share of what is left, counted from now."""
        return ScenarioBudget(max(0.0, self.left * share), self._clock)

    def rounds(self, most: int, least: int = 1) -> Iterator[int]:
        """Up to `most` rounds; after the first `least`, only while one like those before would still fit."""
        start = self._clock()
        for number in range(most):
            if number >= least and not self.affords((self._clock() - start) / number):
                return
            yield number
