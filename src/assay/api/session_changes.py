from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from assay.api.listeners import HISTORY_TROUBLE
from assay.history.find_session import find_session
from assay.history.history import History
from assay.history.rows import SessionRow
from assay.record import Record, SessionFolder
from assay.report.text.screen import Screen
from assay.report.text.session import session_summary
from assay.session.results.requirements import EarlierLevel

if TYPE_CHECKING:
    from assay.analysis import Comparison


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
        sessions = self._recent(record, metric) if baseline is None else [self._find_named(record, baseline)]
        levels = [median(values) for runs in sessions if (values := _values(runs, metric))]
        if now is None or not levels:
            return None
        value = median(levels)
        if value == 0:
            return EarlierLevel(value, 0.0 if now == 0 else float("inf"), len(levels))
        change = (now - value) / abs(value)
        worse = -change if _higher_is_better(record, metric) else change
        return EarlierLevel(value, worse, len(levels), _by_chance(levels, value))

    def _recent(self, record: Record, metric: str) -> list[tuple[Record, ...]]:
        """Passed runs of the sessions before this one, newest first: several, since one may have been lucky."""
        # One more, since this session itself may be among them.
        found = self._history.baseline(record.fingerprint, record.started_at, metric=metric, limit=RECENT + 1)
        return [runs for runs in found if runs[0].session != record.session][:RECENT]

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

    from assay.stats.intervals import t_quantile
    from assay.stats.robust import spread

    return t_quantile(0.995, n - 1) * spread(np.array(levels)) * sqrt(1 + 1 / n) / abs(centre)


def _higher_is_better(record: Record, metric: str) -> bool:
    from assay.analysis.rules import direction  # numpy comes with it: only when a requirement asks

    measured = record.metrics[metric]
    return direction(metric, measured.unit, measured.better) == "higher"


@dataclass(frozen=True)
class SessionChanges:
    """What a session that is over showed against what ran before it, as its end said."""

    comparison: Comparison | None = None
    last: SessionRow | None = None

    @classmethod
    def of(cls, folder: SessionFolder) -> SessionChanges:
        """Without any where the history does not know, or cannot be read: a session is shown all the same."""
        try:
            records = [record for record in folder.records() if record.counts]
            with History.beside(folder.path.absolute().parent, read_only=True) as history:
                before = min((record.started_at for record in records), default="")
                if not records or not history.runs_before(before)[0]:
                    return cls()
                from assay.analysis import what_changed  # numpy comes with it: only where there is something to compare

                comparison = what_changed(records, history)
                return cls(comparison, None if comparison is None else history.session(comparison.base))
        except (*HISTORY_TROUBLE, ArithmeticError):  # ArithmeticError: numbers that only a damaged file has
            return cls()

    @property
    def regressed(self) -> set[str]:
        """Names of entries."""
        return {row.entry for row in self.comparison.regressed} if self.comparison is not None else set()


def session_text(
    folder: SessionFolder,
    comparison: Comparison | None,
    last: SessionRow | None,
    screen: Screen,
    after_lines: bool = False,
) -> str:
    """What a session says at its end, and `assay show` again: commands of the command line in their own way.

    `comparison`: with what ran before, `last`: in which session, where it was one. `after_lines`: below the lines of a
    live view.
    """
    lines = []
    if comparison is not None:
        from assay.analysis import summary_lines  # numpy comes with what a comparison is made by

        lines = summary_lines(comparison)
    info = folder.info()
    if not info.of_commands:
        regressed = set() if comparison is None else {row.entry for row in comparison.regressed}
        return session_summary(folder, changes=lines, regressed=regressed, screen=screen, after_lines=after_lines)
    from assay.report.text.commands import command_summary
    from assay.report.text.series import last_time_lines

    if comparison is not None and len(info.planned) == 1:
        return command_summary(folder, changes=last_time_lines(comparison, last), screen=screen)
    return command_summary(folder, changes=lines and ["vs last time", *(f"  {x}" for x in lines)], screen=screen)
