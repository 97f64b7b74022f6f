from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from assay.analysis.results_folder import read_any_results
from assay.errors import DataError
from assay.record import Environment, SessionFolder, SessionInfo
from assay.record.results_file import append_record
from assay.report.html import render_report


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
