from __future__ import annotations

from collections.abc import Sequence

from assay.record import SessionFolder
from assay.report.text.command_text import one_command, several_commands
from assay.report.text.screen import PLAIN, Screen
from assay.report.text.terminal import failures
from assay.report.text.text_width import wrap_text
from assay.report.view import SessionView


def command_summary(folder: SessionFolder, *, changes: Sequence[str] = (), screen: Screen = PLAIN) -> str:
    """What came of commands without YAML: what failed first, then times, then `changes` since the last time."""
    view = SessionView.of(folder)
    measured = [entry for entry in view.entries if entry.measured]
    blocks = [failures(view, folder, screen)]
    if len(view.entries) == 1:
        blocks += [one_command(entry, screen) for entry in measured]
    elif measured:
        blocks.append(several_commands(measured, screen))
    blocks.append("\n".join(wrap_text(line.lstrip(), screen.width, line[: -len(line.lstrip())]) for line in changes))
    return "\n\n".join(block for block in blocks if block) + "\n"
