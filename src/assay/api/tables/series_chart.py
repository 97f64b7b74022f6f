from __future__ import annotations

from datetime import datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from assay.errors import UsageError
from assay.names import unknown
from assay.report.exhibits.plot import Plot
from assay.report.quantity import quantity
from assay.report.svg.standalone import standalone
from assay.untrusted.writing import write_atomic

if TYPE_CHECKING:
    from assay.api.tables.records import Records


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
