from __future__ import annotations

from pathlib import Path

from assay import __version__
from assay.errors import DataError, UsageError
from assay.record import Environment, SessionFolder
from assay.untrusted.writing import write_atomic

_KINDS = {
    "together": "all pipelines together",
    "matrix": "alone and beside each other",
    "rates": "one pipeline at several rates",
}


def write_colocation_page(folder: Path, to: Path | None = None) -> Path:
    """`report.html` beside `colocation.json`: one file that needs nothing else, like a session's."""
    path = to or folder / "report.html"
    write_atomic(path, render_colocation(folder))
    return path


def render_colocation(folder: Path) -> str:
    # numpy comes with the analysis: not before a page is written.
    from assay.analysis.colocation.colocation_result import ColocationResult, colocation_file
    from assay.report.exhibits.colocation.colocation_exhibit import ColocationExhibit
    from assay.report.page_limits import MOST_BYTES, STEPS
    from assay.report.page_templates import page_scripts, templates

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
            environment=_environment(folder),
            plots=[plot.to_json() for plot in shown.plots],
            scripts=page_scripts(),
            version=__version__,
            limited="Charts are left out or shortened to keep the file small." if number else "",
        )
        if len(text.encode()) <= MOST_BYTES:
            break
    return text


def _environment(folder: Path) -> Environment | None:
    try:
        return SessionFolder(folder).environment()
    except DataError:
        return None  # not written, or not readable: what was measured is shown all the same
