from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.analysis.colocation.colocation_result import colocation_file
from assay.analysis.serving import serving_file
from assay.files.reading import LOG, SESSION, USAGE, Unreadable, inside, last_lines, read_text
from assay.record import OUTPUT_FILE, RESULTS_FILE, USAGE_FILE, Record, SessionFolder, TaskPerf
from assay.record.results_file import read_records
from assay.record.secrets import Masker


@dataclass(frozen=True)
class PageLimits:
    """How much of each entry a page shows. What is left out is said, and is on disk."""

    points: int = 150
    log_lines: int = 40
    metrics: int = 80
    bins: int = 40
    plots: int = 4
    """Charts of what a run used: processor and memory first."""
    runs: int = 40
    """Runs of pipelines beside each other that are drawn as they went."""
    rounds: int = 2
    """Rounds of one group, among these runs."""
    series: int = 3
    """Charts over time of one pipeline in such a run: latency, throughput, queries in flight."""
    spans: int = 400
    """Bars of a pipeline on a time line."""
    stages: int = 40
    """Stages of a pipeline in a group, those that take longest."""
    moved: int = 60
    """Metrics that changed and are drawn as they were and are."""


MOST_BYTES = 500_000
"""Most bytes of a report: it is mailed, and kept by the hundred."""

STEPS = (
    PageLimits(),
    PageLimits(100, 25, 50, 30, 4, 24, 1, 2, 250, 30),
    PageLimits(60, 12, 25, 24, 4, 24, 1, 1, 120, 20),
    PageLimits(40, 6, 12, 16, 4, 12, 1, 1, 60, 12, 30),
    PageLimits(40, 12, 25, 16, 2, 12, 1, 1, 60, 12, 30),
    PageLimits(30, 5, 8, 12, 2, 1, 1, 1, 40, 5, 15),
    PageLimits(30, 5, 5, 10, 1, 1, 1, 1, 40, 5, 10),
)
"""Tried in order until the page is small enough."""

MOST_INSIGHTS = 20
"""Most groups of insights on a page."""

MOST_SERIES = 200


@dataclass(frozen=True)
class ScrapedSeries:
    """`service_metrics.jsonl`: readings of a server's Prometheus page, series by series."""

    points: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    """Points by series: seconds from the start of the program, and the value."""

    @classmethod
    def read(cls, path: Path) -> ScrapedSeries:
        """Lines that are none are passed over: a server decides what stands there."""
        try:
            lines = read_text(path, SESSION).splitlines()
        except (FileNotFoundError, Unreadable):
            return cls()
        points: dict[str, list[tuple[float, float]]] = {}
        for line in lines:
            t, values = _reading(line)
            for name, value in values.items():
                if _is_number(value) and (name in points or len(points) < MOST_SERIES):
                    points.setdefault(name, []).append((t, float(value)))
        return cls({name: tuple(found) for name, found in points.items()})

    def changing(self) -> list[str]:
        """Names of those that did not stay the same."""
        return [name for name, found in self.points.items() if len({value for _, value in found}) > 1]


def _reading(line: str) -> tuple[float, Mapping[str, Any]]:
    try:
        reading = json.loads(line)
    except (ValueError, RecursionError):
        return 0.0, {}
    if not isinstance(reading, dict) or not _is_number(reading.get("t_s")):
        return 0.0, {}
    values = reading.get("values")
    return float(reading["t_s"]), values if isinstance(values, dict) else {}


def _is_number(value: object) -> bool:
    """That a chart can show: not NaN, which is below nothing."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


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
        return self.path / OUTPUT_FILE

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
            own = (r for r in read_records(self.path / RESULTS_FILE) if r.run_id == self._record.run_id)
            return next((record.tasks for record in own), ())
        except Unreadable:
            return ()

    def usage_series(self) -> UsageSeries:
        return self._series(self.file("usage") or self.path / USAGE_FILE)

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
