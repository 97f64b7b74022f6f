"""CPU of a value that goes into the history, and of what people ask of it."""

from __future__ import annotations

import tempfile
from itertools import count
from pathlib import Path

from history_rows import fill

import assay
from assay.history import History
from bench.nightly.calibrated import Calibrated

ENTRIES, METRICS = 10, 7
VALUES = ENTRIES * (METRICS + 3)
"""Values of one session."""

with assay.benchmark() as b, tempfile.TemporaryDirectory() as folder:
    sessions = b.param("sessions", 100)
    numbers = count()

    def put() -> None:
        with History(Path(folder) / f"history-{next(numbers)}.sqlite") as history:
            fill(history, sessions=sessions, entries=ENTRIES, metrics=METRICS)

    measured = Calibrated(b, "history", b.param("rounds", 5))
    measured.measure("cpu_us_per_value", put, sessions * VALUES)
    with History(Path(folder) / "history-0.sqlite", read_only=True) as history:
        [series] = history.series(entry="entry-007", metric="metric_03")

        def ask() -> None:
            for _ in range(30):
                history.runs(limit=20)
                history.points(series.id, limit=100)
                history.sessions(limit=50)

        measured.measure("cpu_us_per_question", ask, 30)
        b.counts(num_values=len(history.points(series.id, limit=10_000)))
