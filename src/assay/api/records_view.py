from __future__ import annotations

from datetime import datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from assay.errors import UsageError
from assay.files.writing import write_atomic
from assay.names import unknown
from assay.report.exhibits.plots import Plot
from assay.report.quantity import duration, printable, quantity
from assay.report.session_view import EntryView
from assay.report.svg.lanes import standalone
from assay.report.text.session import metric_words

if TYPE_CHECKING:
    from assay.api.results import Records


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


class SeriesChart:
    """A metric over sessions, one line an entry. A notebook shows it; `save` writes it as a page of its own."""

    def __init__(self, plot: Plot) -> None:
        self.plot = plot

    @classmethod
    def of(cls, records: Records, metric: str) -> SeriesChart:
        """One point a session: the median of the entry's runs, at the time the session's first run started."""
        points: dict[str, dict[float, float]] = {}
        units: dict[str, None] = {}
        for session in records.sessions:
            together = records.of(session=session)
            at = _seconds(min(record.started_at for record in together))
            for entry in together.entries:
                runs = [record for record in together.of(entry=entry) if record.counts]
                measured = [record.metrics[metric] for record in runs if metric in record.metrics]
                values = [value for item in measured if (value := item.number) is not None]
                if values:
                    units.setdefault(measured[-1].unit or "")
                    points.setdefault(entry, {})[at] = median(values)
        if not points:
            known = sorted(
                {name for record in records for name, item in record.metrics.items() if item.number is not None}
            )
            raise UsageError(f"nothing to plot: {unknown('metric', metric, known)}")
        return cls(_plot(metric, points, next(iter(units)) if len(units) == 1 else ""))

    def save(self, path: str | Path) -> Path:
        """Writes the chart as an HTML page that needs nothing else."""
        page = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Assay</title>{self._repr_html_()}</html>'
        write_atomic(Path(path), page)
        return Path(path)

    def _repr_html_(self) -> str:
        return str(standalone(self.plot))

    def __repr__(self) -> str:
        return f"<assay chart of {self.plot.title}: {self.plot.says}>"


def _plot(metric: str, points: dict[str, dict[float, float]], unit: str) -> Plot:
    times = sorted({time for line in points.values() for time in line})
    says = "; ".join(
        f"{entry}: last {quantity(line[max(line)], unit)}, {len(line)} session{'' if len(line) == 1 else 's'}"
        for entry, line in points.items()
    )
    lines = tuple((entry, tuple(line.get(time) for time in times)) for entry, line in points.items())
    return Plot(metric, unit, tuple(times), lines, says, x_name="UTC", time=True, zero=False, tall=True)


def _seconds(started_at: str) -> float:
    return datetime.fromisoformat(started_at).timestamp()
