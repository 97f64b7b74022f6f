from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import median

from assay.api.listeners.history_listener import HISTORY_TROUBLE
from assay.history.history import History
from assay.history.sessions import find_session
from assay.record import Record


class HistoryPast:
    """The past of a session, for `max_regression`: from the history, or from the session named as baseline.

    A history that fails, or a baseline that is not there, is told as trouble: the run's record must not depend on it.
    """

    def __init__(self, history: History, results_dir: Path, trouble: Callable[[str], None]) -> None:
        self._history = history
        self._results_dir = results_dir
        self._trouble = trouble

    def worse_by(self, record: Record, metric: str, baseline: str | None) -> tuple[float, float] | None:
        try:
            return self._worse_by(record, metric, baseline)
        except HISTORY_TROUBLE as error:
            self._trouble(f"{record.name}: {metric} could not be held against the past: {error}")
            return None

    def _worse_by(self, record: Record, metric: str, baseline: str | None) -> tuple[float, float] | None:
        now = record.metrics[metric].number if metric in record.metrics else None
        before = [
            value
            for earlier in self._earlier(record, baseline)
            if metric in earlier.metrics and (value := earlier.metrics[metric].number) is not None
        ]
        if now is None or not before:
            return None
        value = median(before)
        if value == 0:
            return value, 0.0 if now == 0 else float("inf")
        change = (now - value) / abs(value)
        return value, -change if _higher_is_better(record, metric) else change

    def _earlier(self, record: Record, baseline: str | None) -> tuple[Record, ...]:
        if baseline is None:
            return self._history.last_comparable(record.fingerprint, before=record.started_at)
        records = find_session(baseline, self._results_dir).records()
        return tuple(
            item for item in records if item.counts and item.success and item.fingerprint == record.fingerprint
        )


def _higher_is_better(record: Record, metric: str) -> bool:
    from assay.analysis.direction import direction  # numpy comes with it: only when a requirement asks

    measured = record.metrics[metric]
    return direction(metric, measured.unit, measured.better) == "higher"
