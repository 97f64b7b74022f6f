"""What earlier sessions say about a series: how much its level moves when nothing changes."""

from __future__ import annotations

from math import isfinite, log
from statistics import median
from typing import Protocol

import numpy as np

from assay.history import History
from assay.stats.intervals import Floats

ENOUGH = 10
"""Sessions before their movement is believed."""
_LOOK_BACK = 1000


class Past(Protocol):
    def levels(self, entry: str, fingerprint: str, metric: str) -> Floats:
        """The logarithm of one value a session, oldest first; empty if unknown."""
        ...

    def values(self, entry: str, fingerprint: str, metric: str) -> Floats:
        """The values themselves, one a session, oldest first; those too that have no logarithm."""
        ...


class NoPast:
    def levels(self, entry: str, fingerprint: str, metric: str) -> Floats:
        return np.empty(0)

    def values(self, entry: str, fingerprint: str, metric: str) -> Floats:
        return np.empty(0)


class HistoryPast:
    """Reads a series only when a comparison needs it, and once."""

    def __init__(self, history: History, before: str) -> None:
        self._history = history
        self._before = before
        self._known: dict[tuple[str, str], list[list[float]]] = {}

    def levels(self, entry: str, fingerprint: str, metric: str) -> Floats:
        levels = ([log(value) for value in values if value > 0] for values in self._runs(fingerprint, metric))
        return np.array([_middle(level) for level in levels if level], dtype=np.float64)

    def values(self, entry: str, fingerprint: str, metric: str) -> Floats:
        return np.array([_middle(values) for values in self._runs(fingerprint, metric)], dtype=np.float64)

    def _runs(self, fingerprint: str, metric: str) -> list[list[float]]:
        key = fingerprint, metric
        if key not in self._known:
            self._known[key] = self._read(fingerprint, metric)
        return self._known[key]

    def _read(self, fingerprint: str, metric: str) -> list[list[float]]:
        """The finite values of each session, oldest session first."""
        series_id = self._history.series_id(fingerprint, metric)
        if series_id is None:
            return []
        by_session = self._history.values_by_session(series_id, before=self._before, limit=_LOOK_BACK)
        finite = ([value for value in values if isfinite(value)] for values in by_session)
        return [values for values in finite if values]


def _middle(values: list[float]) -> float:
    """Middle of a session's values. One value is its own: most sessions have one run, and a comparison reads a thousand
    sessions for each of its metrics."""
    return values[0] if len(values) == 1 else median(values)
