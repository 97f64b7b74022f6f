from __future__ import annotations

from typing import TYPE_CHECKING

from assay.history.rows import SessionRow
from assay.record import SessionFolder
from assay.report.text.screen import Screen
from assay.report.text.terminal import session_summary

if TYPE_CHECKING:
    from assay.analysis import Comparison


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
    from assay.report.text.command_summary import command_summary
    from assay.report.text.last_time_text import last_time_lines

    if comparison is not None and len(info.planned) == 1:
        return command_summary(folder, changes=last_time_lines(comparison, last), screen=screen)
    return command_summary(folder, changes=lines and ["vs last time", *(f"  {x}" for x in lines)], screen=screen)
