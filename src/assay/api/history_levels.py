from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from pathlib import Path
from statistics import median

from assay.api.listeners.history_listener import HISTORY_TROUBLE
from assay.history.history import History
from assay.history.sessions import find_session
from assay.record import Record
from assay.session.kept.requirement_check import EarlierLevel

RECENT = 10
"""Sessions that make a level."""
FEWEST = 6
"""Sessions before their spread is believed."""


class HistoryLevels:
    """The past of a session, for `max_regression`: from the history, or from the session named as baseline.

    A history that fails, or a baseline that is not there, is told as trouble: the run's record must not depend on it.
    """

    def __init__(self, history: History, results_dir: Path, trouble: Callable[[str], None]) -> None:
        self._history = history
        self._results_dir = results_dir
        self._trouble = trouble

    def level(self, record: Record, metric: str, baseline: str | None) -> EarlierLevel | None:
        try:
            return self._level(record, metric, baseline)
        except HISTORY_TROUBLE as error:
            self._trouble(f"{record.name}: {metric} could not be held against the past: {error}")
            return None

    def _level(self, record: Record, metric: str, baseline: str | None) -> EarlierLevel | None:
        now = record.metrics[metric].number if metric in record.metrics else None
        sessions = self._recent(record) if baseline is None else [self._find_named(record, baseline)]
        levels = [median(values) for runs in sessions if (values := _values(runs, metric))]
        if now is None or not levels:
            return None
        value = median(levels)
        if value == 0:
            return EarlierLevel(value, 0.0 if now == 0 else float("inf"), len(levels))
        change = (now - value) / abs(value)
        worse = -change if _higher_is_better(record, metric) else change
        return EarlierLevel(value, worse, len(levels), _by_chance(levels, value))

    def _recent(self, record: Record) -> list[tuple[Record, ...]]:
        """Passed runs of the sessions before this one, newest first: several, since one may have been lucky."""
        found: list[tuple[Record, ...]] = []
        before = record.started_at
        while len(found) < RECENT:
            runs = self._history.last_comparable(record.fingerprint, before=before)
            if not runs:
                break
            before = min(run.started_at for run in runs)
            if runs[0].session != record.session:
                found.append(runs)
        return found

    def _find_named(self, record: Record, baseline: str) -> tuple[Record, ...]:
        records = find_session(baseline, self._results_dir).records()
        return tuple(
            item for item in records if item.counts and item.success and item.fingerprint == record.fingerprint
        )


def _values(runs: Sequence[Record], metric: str) -> list[float]:
    measured = (run.metrics[metric].number for run in runs if metric in run.metrics)
    return [value for value in measured if value is not None]


def _by_chance(levels: Sequence[float], centre: float) -> float | None:
    """Share by which one more value like these could differ: the 99% prediction interval of Student's t."""
    n = len(levels)
    if n < FEWEST:
        return None
    import numpy as np

    from assay.stats.biweight import spread
    from assay.stats.distributions import t_quantile

    return t_quantile(0.995, n - 1) * spread(np.array(levels)) * sqrt(1 + 1 / n) / abs(centre)


def _higher_is_better(record: Record, metric: str) -> bool:
    from assay.analysis.direction import direction  # numpy comes with it: only when a requirement asks

    measured = record.metrics[metric]
    return direction(metric, measured.unit, measured.better) == "higher"
