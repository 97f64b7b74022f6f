from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.api.listeners.history_listener import HISTORY_TROUBLE
from assay.history.history import History
from assay.history.rows import SessionRow
from assay.record import SessionFolder

if TYPE_CHECKING:
    from assay.analysis import Comparison


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
                if not records or history.previous_session(records, before) is None:
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
