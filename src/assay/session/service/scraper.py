from __future__ import annotations

import json
import threading
import time
import urllib.error
from pathlib import Path
from typing import Self

from assay.session.service.metrics_page import MOST_BYTES, SeriesName, read_metrics_page
from assay.session.service.ready_check import DIRECT
from assay.untrusted.writing import open_new

_ANSWER_S = 5.0
MOST_FILE_BYTES = 64 << 20
"""Most bytes of one run's file; a day with two hundred series at a reading a second has more: the rest is left out."""


class Scraper:
    """Reads the Prometheus page of a service while a program runs: once at its start, each `interval_s`, at its end.

    A thread of Assay's own: nothing of it is counted as the program's or the service's.
    """

    def __init__(self, url: str, interval_s: float, path: Path) -> None:
        """`path`: JSON lines, `{"t_s": seconds from the start, "values": {series: value}}`."""
        self._url = url
        self._interval_s = interval_s
        self._path = path
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read_all, daemon=True)
        self._begun = 0.0
        self._written = 0
        self.readings: dict[SeriesName, list[float]] = {}
        self.count = 0
        self.failed = 0
        self.problem = ""
        """Why a reading is missing: the last reason."""

    def __enter__(self) -> Self:
        self._begun = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(timeout=2 * _ANSWER_S)

    def _read_all(self) -> None:
        try:
            with open_new(self._path) as out:
                due = self._begun
                while True:
                    last = self._stop.is_set()
                    self._read(out.write)
                    if last:
                        return
                    due = max(due + self._interval_s, time.monotonic())
                    self._stop.wait(due - time.monotonic())
        except OSError as error:
            self.problem = f"{error.strerror or error}: {self._path.name}"

    def _read(self, write: object) -> None:
        at = time.monotonic() - self._begun
        self.count += 1
        try:
            with DIRECT.open(self._url, timeout=_ANSWER_S) as answer:
                page = answer.read(MOST_BYTES + 1)
        except urllib.error.HTTPError as error:
            self._fail(f"it answered with status {error.code}")
            return
        except (OSError, ValueError) as error:
            self._fail(str(getattr(error, "reason", error)))
            return
        if len(page) > MOST_BYTES:
            self._fail(f"it is larger than {MOST_BYTES >> 20} MB")
            return
        values = read_metrics_page(page.decode("utf-8", "replace"))
        for series, value in values.items():
            self.readings.setdefault(series, []).append(value)
        line = json.dumps({"t_s": round(at, 4), "values": {str(series): value for series, value in values.items()}})
        if self._written + len(line) <= MOST_FILE_BYTES and callable(write):
            self._written += write(line + "\n")

    def _fail(self, why: str) -> None:
        self.failed += 1
        self.problem = why
