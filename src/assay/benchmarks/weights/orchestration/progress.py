from __future__ import annotations

import sys
import time
from collections.abc import Callable

Show = Callable[[str], None]
"""Shows a person one line; an empty one takes away what does not stay, before something else is printed."""


def print_line(text: str) -> None:
    """A line a scenario, so that a log stays readable."""
    if text:
        print(text, file=sys.stderr, flush=True)


class SuiteProgress:
    """Which scenario is running and how long the rest will take.

    Estimates of a kind (a suite) are corrected by how those of its kind have turned out so far; until each kind that
    is left has been seen, it is said to take at least so long. `assay weights bench` shows it on a terminal by
    `assay.api.listeners.suite_view`.
    """

    def __init__(
        self,
        estimates: list[float],
        kinds: list[str],
        show: Show,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._estimates = estimates
        self._kinds = kinds
        self._show = show
        self._clock = clock
        self._begun = clock()
        self._took: list[float] = []

    @property
    def left_s(self) -> float:
        rest = zip(self._kinds[self._done :], self._estimates[self._done :], strict=True)
        return sum(estimate * self._factor(kind) for kind, estimate in rest)

    @property
    def certain(self) -> bool:
        """Something of every kind that is left has been run."""
        return set(self._kinds[self._done :]) <= self._seen

    @property
    def _done(self) -> int:
        return len(self._took)

    @property
    def _seen(self) -> set[str]:
        return set(self._kinds[: self._done])

    def _factor(self, kind: str) -> float:
        """How much longer than estimated those of the kind that have ended took; of another kind it says nothing."""
        ended = [at for at in range(self._done) if kind == self._kinds[at]]
        if not ended:
            return 1.0
        # One slow scenario says little: the plan counts as two more that went as expected.
        prior = 2 * sum(self._estimates) / max(1, len(self._estimates))
        return (sum(self._took[at] for at in ended) + prior) / (sum(self._estimates[at] for at in ended) + prior)

    def begin(self, name: str) -> None:
        self._begun = self._clock()
        least = "" if self.certain else "at least "
        self._show(f"[{self._done + 1}/{len(self._estimates)}] {name}: {least}{clock_face(self.left_s)} left")

    def end(self) -> None:
        self._took.append(self._clock() - self._begun)


def clock_face(seconds: float) -> str:
    whole = max(0, round(seconds))
    return f"{whole // 60}:{whole % 60:02d}"
