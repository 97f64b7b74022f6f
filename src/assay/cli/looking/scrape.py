from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import AssayError
from assay.history.history import FILE_NAME, History
from assay.record import Record
from assay.sinks.monitoring.prometheus_text import CONTENT_TYPE, exposition

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_REPEATS = 100


def scrape(results_dir: Path) -> Callable[[Request], Response]:
    """`/metrics` of `assay serve`: the newest result of every entry, for Prometheus to scrape."""

    def answer(request: Request) -> Response:
        from starlette.responses import PlainTextResponse, Response

        try:
            text = _newest(results_dir)
        except AssayError as error:
            return PlainTextResponse(f"{error}\n", status_code=503)
        headers = {"Content-Type": CONTENT_TYPE, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
        return Response(text, headers=headers)

    return answer


def _newest(results_dir: Path) -> bytes:
    if not (results_dir / FILE_NAME).is_file():
        return exposition(())
    with History.beside(results_dir, read_only=True) as history:
        records = list(_records(history))
        rows = [history.session(name) for name in {record.session for record in records}]
    return exposition(records, {row.name: row.host or "" for row in rows if row is not None})


def _records(history: History) -> Iterator[Record]:
    """All repeats of every entry, from the session that has run it last."""
    for entry in history.entries():
        runs = history.runs(entry=entry, limit=_REPEATS)
        for run in runs:
            record = history.record(run.run_id) if run.session == runs[0].session else None
            if record is not None:
                yield record
