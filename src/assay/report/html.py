from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay import __version__
from assay.record import Record, SessionFolder
from assay.untrusted.writing import write_atomic

if TYPE_CHECKING:
    from assay.analysis import Comparison
    from assay.history import History


def write_report(
    folder: SessionFolder,
    *,
    history: History | None = None,
    comparison: Comparison | None = None,
    base: Sequence[Record] | None = None,
    to: Path | None = None,
) -> Path:
    """One file that needs nothing else: styles and scripts inside, no request to anywhere, everything escaped.

    What changed is told by `comparison`, otherwise against the last comparable runs in `history`. `base`: the runs of
    a comparison that was made with others than those.
    """
    path = to or folder.report
    write_atomic(path, render_report(folder, history=history, comparison=comparison, base=base))
    return path


def render_report(
    folder: SessionFolder,
    *,
    history: History | None = None,
    comparison: Comparison | None = None,
    base: Sequence[Record] | None = None,
) -> str:
    # numpy comes with the analysis: not before a report is written.
    from assay.analysis import extract, what_changed
    from assay.report.earlier.earlier import Earlier
    from assay.report.page_limits import MOST_BYTES, STEPS
    from assay.report.page_templates import page_scripts, templates
    from assay.report.pages.session_page import SessionPage

    records = folder.records()
    if comparison is None and history is not None:
        comparison = what_changed(records, history)
    earlier = Earlier(records, history, base)
    insights = extract(records, folder.path)
    text = ""
    for number, limits in enumerate(STEPS):
        page = SessionPage.of(folder, comparison, limits, earlier)
        limited = "Charts, logs and tables are left out or shortened to keep the file small." if number else ""
        text = (
            templates()
            .get_template("session.html")
            .render(page=page, insights=insights, scripts=page_scripts(), version=__version__, limited=limited)
        )
        if len(text.encode()) <= MOST_BYTES:
            break
    return text
