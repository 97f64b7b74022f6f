from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.api.listeners import HISTORY_TROUBLE
from assay.history.history import History
from assay.history.rows import SessionRow
from assay.record import SessionFolder
from assay.report.text.screen import Screen
from assay.report.text.session import session_summary

if TYPE_CHECKING:
    from assay.analysis import Comparison
    from assay.analysis.verdict import VerdictDocument


@dataclass(frozen=True)
class SessionChanges:
    """What a session that is over showed against what ran before it, as its end said."""

    comparison: Comparison | None = None
    last: SessionRow | None = None
    verdict: VerdictDocument | None = None

    @classmethod
    def of(cls, folder: SessionFolder) -> SessionChanges:
        """Without any where the history does not know, or cannot be read: a session is shown all the same."""
        from assay.analysis.verdict import read_verdict

        verdict = read_verdict(folder.path)
        try:
            records = [record for record in folder.records() if record.counts]
            with History.beside(folder.path.absolute().parent, read_only=True) as history:
                before = min((record.started_at for record in records), default="")
                if not records or not history.runs_before(before)[0]:
                    return cls(verdict=verdict)
                from assay.analysis import what_changed  # numpy comes with it: only where there is something to compare

                comparison = what_changed(records, history)
                return cls(comparison, None if comparison is None else history.session(comparison.base), verdict)
        except (*HISTORY_TROUBLE, ArithmeticError):  # ArithmeticError: numbers that only a damaged file has
            return cls(verdict=verdict)

    @property
    def regressed(self) -> set[str]:
        """Names of entries, those that missed a gate among them."""
        compared = self.comparison.regressed if self.comparison is not None else ()
        gates = self.verdict.gates if self.verdict is not None else ()
        return {*(row.entry for row in compared), *(gate.entry for gate in gates if gate.result == "fail")}


def session_text(
    folder: SessionFolder,
    comparison: Comparison | None,
    last: SessionRow | None,
    screen: Screen,
    after_lines: bool = False,
    verdict: VerdictDocument | None = None,
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
    if verdict is not None and not info.of_commands:
        lines = verdict.lines_besides or ([verdict.headline] if verdict.undecided else [])
    if not info.of_commands:
        regressed = set() if comparison is None else {row.entry for row in comparison.regressed}
        return session_summary(folder, changes=lines, regressed=regressed, screen=screen, after_lines=after_lines)
    from assay.report.text.commands import command_summary
    from assay.report.text.series import last_time_lines

    if comparison is not None and len(info.planned) == 1:
        return command_summary(folder, changes=last_time_lines(comparison, last), screen=screen)
    return command_summary(folder, changes=lines and ["vs last time", *(f"  {x}" for x in lines)], screen=screen)
