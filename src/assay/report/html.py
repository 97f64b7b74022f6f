from __future__ import annotations

from pathlib import Path

from assay import __version__
from assay.history import History
from assay.record import SessionFolder
from assay.record.atomic_file import write_atomic
from assay.report.change import Changes
from assay.report.limits import MOST_BYTES, STEPS
from assay.report.page_templates import page_scripts, templates
from assay.report.session_page import SessionPage


def write_report(
    folder: SessionFolder, *, history: History | None = None, changes: Changes | None = None, to: Path | None = None
) -> Path:
    """One file that needs nothing else: styles and scripts inside, no request to anywhere, everything escaped."""
    path = to or folder.report
    write_atomic(path, render_report(folder, history=history, changes=changes))
    return path


def render_report(folder: SessionFolder, *, history: History | None = None, changes: Changes | None = None) -> str:
    text = ""
    for number, limits in enumerate(STEPS):
        page = SessionPage.of(folder, changes, limits)
        limited = "Charts, logs and tables are shortened to keep the file small." if number else ""
        text = (
            templates()
            .get_template("session.html")
            .render(page=page, insights=(), scripts=page_scripts(), version=__version__, limited=limited)
        )
        if len(text.encode()) <= MOST_BYTES:
            break
    return text
