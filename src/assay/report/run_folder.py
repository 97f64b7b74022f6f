from __future__ import annotations

import csv
import os
from dataclasses import dataclass, field
from pathlib import Path

from assay.analysis.colocation.colocation_result import colocation_file
from assay.analysis.serving.serving_result import serving_file
from assay.record import Record, SessionFolder, TaskPerf
from assay.record.results_file import read_records
from assay.record.secrecy.secrets import Masker
from assay.report.scraped_series import ScrapedSeries
from assay.untrusted.inside import inside
from assay.untrusted.read_limit import LOG, USAGE
from assay.untrusted.text_file import last_lines, read_text
from assay.untrusted.unreadable import Unreadable


@dataclass(frozen=True)
class UsageSeries:
    """`usage.csv`, column by column."""

    columns: dict[str, list[float]] = field(default_factory=dict)

    @property
    def t(self) -> list[float]:
        return self.columns.get("t_s", [])

    def column(self, name: str) -> list[float]:
        return self.columns.get(name, [])

    def rate(self, name: str) -> list[float]:
        """Change per second of a cumulative column; the first value is that of the second."""
        total, t = self.column(name), self.t
        rates = [
            max(0.0, (b - a) / (tb - ta)) if tb > ta else 0.0
            for a, b, ta, tb in zip(total, total[1:], t, t[1:], strict=False)
        ]
        return rates[:1] + rates


class RunFolder:
    """What a run left on disk beside its record. What is not there is empty; nothing outside the session is read."""

    def __init__(self, session: SessionFolder, record: Record) -> None:
        self._session = session.path.resolve()
        self._record = record
        self.path = self._inside(self._log_as_written()).parent

    def _log_as_written(self) -> str:
        """Records name it from the session's folder; older ones from the root, which holds only until it is moved."""
        written = self._record.files.get("stdouterr") or self._record.stdouterr_file
        _, moved, rest = written.rpartition(f"/{self._record.session}/")
        return rest if moved else written or f"{self._record.name}/stdouterr.log"

    def _inside(self, written: str) -> Path:
        """A record may come from anywhere: a path that leads out of the session leads to a file that is not there."""
        return inside(self._session, written) or self._session / "outside" / "not-read"

    @property
    def log(self) -> Path:
        return self.path / "stdouterr.log"

    def file(self, kind: str) -> Path | None:
        written = self._record.files.get(kind)
        path = self._inside(written) if written else None
        return path if path is not None and path.is_file() else None

    def colocation(self) -> Path | None:
        """What a run of pipelines beside each other left; the older form, which only has figures, is not looked at."""
        return colocation_file(self._inside(str(self.path / "benchmark_results")))

    def serving(self) -> Path | None:
        """What a load on an endpoint left."""
        return serving_file(self._inside(str(self.path / "benchmark_results")))

    def profile(self) -> Path | None:
        """Profile of this run, or of its entry if one was made afterwards because it regressed."""
        afterwards = self._inside(f"profiles/{self._record.name}.svg")
        return self.file("profile") or (afterwards if afterwards.is_file() else None)

    def log_tail(self, lines: int = 40, most_bytes: int = 16_384) -> str:
        """The end of what the program printed, without reading the rest of it."""
        try:
            # Logs are masked as they are written; older ones, and what another program put there, are not.
            return Masker(os.environ).text("\n".join(last_lines(self.log, LOG, most_bytes)[-lines:]))
        except (FileNotFoundError, Unreadable):
            return ""

    def tasks(self) -> tuple[TaskPerf, ...]:
        if self._record.tasks:
            return self._record.tasks
        try:
            own = (r for r in read_records(self.path / "results.jsonl") if r.run_id == self._record.run_id)
            return next((record.tasks for record in own), ())
        except Unreadable:
            return ()

    def usage_series(self) -> UsageSeries:
        return self._series(self.file("usage") or self.path / "usage.csv")

    def service_usage_series(self) -> UsageSeries:
        """What the server of its `service:` used, from the start of the program."""
        path = self.file("service_usage")
        return self._series(path) if path is not None else UsageSeries()

    def service_metrics(self) -> ScrapedSeries:
        path = self.file("service_metrics")
        return ScrapedSeries.read(path) if path is not None else ScrapedSeries()

    def _series(self, path: Path) -> UsageSeries:
        try:
            lines = read_text(path, USAGE).splitlines()
            rows = list(csv.DictReader(lines))
        except (FileNotFoundError, Unreadable, csv.Error):
            return UsageSeries()
        columns: dict[str, list[float]] = {}
        for row in rows:
            try:
                values = {name: float(value) for name, value in row.items() if name}
            except (TypeError, ValueError):
                continue  # a last line that was not written whole
            for name, value in values.items():
                columns.setdefault(name, []).append(value)
        return UsageSeries(columns)
