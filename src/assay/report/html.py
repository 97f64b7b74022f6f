from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from assay import __version__
from assay.analysis.read_results import read_any_results
from assay.errors import DataError, UsageError
from assay.files.writing import write_atomic
from assay.record import REPORT_FILE, Environment, Record, SessionFolder, SessionInfo
from assay.record.results_file import append_record

if TYPE_CHECKING:
    from assay.analysis import Comparison
    from assay.history import History


_KINDS = {
    "together": "all pipelines together",
    "matrix": "alone and beside each other",
    "rates": "one pipeline at several rates",
}


def write_colocation_page(folder: Path, to: Path | None = None) -> Path:
    """`report.html` beside `colocation.json`: one file that needs nothing else, like a session's."""
    path = to or folder / REPORT_FILE
    write_atomic(path, render_colocation(folder))
    return path


def render_colocation(folder: Path) -> str:
    # numpy comes with the analysis: not before a page is written.
    from assay.analysis.colocation.colocation_result import ColocationResult, colocation_file
    from assay.report.exhibits.colocation import ColocationExhibit
    from assay.report.page_templates import page_scripts, templates
    from assay.report.run_folder import MOST_BYTES, STEPS

    path = colocation_file(folder)
    if path is None:
        raise UsageError(f"{folder} has no colocation.json: give a folder that `assay colocate` wrote")
    result = ColocationResult.read(path)
    page = templates().get_template("colocation_page.html")
    text = ""
    for number, limits in enumerate(STEPS):
        shown = ColocationExhibit.of(result, "", limits)
        text = page.render(
            shown=shown,
            kind=_KINDS.get(result.kind, "pipelines side by side"),
            environment=_known_environment(folder),
            plots=[plot.to_json() for plot in shown.plots],
            scripts=page_scripts(),
            version=__version__,
            limited="Charts are left out or shortened to keep the file small." if number else "",
        )
        if len(text.encode()) <= MOST_BYTES:
            break
    return text


def _known_environment(folder: Path) -> Environment | None:
    try:
        return SessionFolder(folder).environment()
    except DataError:
        return None  # not written, or not readable: what was measured is shown all the same


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
    from assay.report.page_templates import page_scripts, templates
    from assay.report.run_folder import MOST_BYTES, STEPS
    from assay.report.session_page import SessionPage
    from assay.report.trends import Earlier

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


def render_results(folder: Path) -> str:
    """The report of what a program that was run alone left: shown as a session of one entry, which it never was."""
    records = read_any_results(folder)
    times = sorted(record.started_at for record in records)
    info = SessionInfo(
        name=folder.absolute().name,
        started_at=times[0],
        finished_at=times[-1],
        status="finished",
        planned=tuple(record.name for record in records),
        reason="results of a program that was run alone",
    )
    with TemporaryDirectory() as scratch:
        shown = SessionFolder(Path(scratch))
        shown.write_info(info)
        shown.write_environment(_environment(folder))
        for record in records:
            append_record(shown.results, record)
        return render_report(shown)


def _environment(folder: Path) -> Environment:
    try:
        return SessionFolder(folder).environment()
    except DataError:
        return Environment()  # not kept with them
