from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from assay.report.printable import printable
from assay.report.quantity import duration
from assay.report.text.terminal import metric_words
from assay.report.view import EntryView

if TYPE_CHECKING:
    from assay.api.tables.records import Records

MOST_ROWS = 60


def records_html(records: Records) -> str:
    """A table for a notebook: a row for each entry of each session, the newest first."""
    rows = [
        _row(session, EntryView(entry, tuple(records.of(entry=entry, session=session))))
        for session in reversed(records.sessions)
        for entry in records.of(session=session).entries
    ]
    left = len(rows) - MOST_ROWS
    more = Markup("<p>{} more rows</p>").format(left) if left > 0 else Markup("")
    head = Markup("").join(
        Markup("<th>{}</th>").format(name) for name in ("session", "entry", "outcome", "runs", "time", "measured")
    )
    body = Markup("").join(rows[:MOST_ROWS])
    return str(Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>{}").format(head, body, more))


def _row(session: str, entry: EntryView) -> Markup:
    passed = sum(run.success for run in entry.counted)
    cells = (
        session,
        entry.name,
        entry.outcome_words,
        f"{passed}/{len(entry.counted)}",
        duration(entry.exec_time_s),
        ", ".join(metric_words(metric) for metric in entry.headline()),
    )
    return Markup("<tr>{}</tr>").format(
        Markup("").join(Markup("<td>{}</td>").format(escape(printable(cell))) for cell in cells)
    )
