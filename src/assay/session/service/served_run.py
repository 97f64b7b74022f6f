from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from assay.session.service.running_service import RunningService
from assay.session.service.scraped_metrics import summarise_readings
from assay.session.service.scraper import Scraper
from assay.session.service.service_usage import ServiceUsage


class ServedRun:
    """One program's run beside a service: what the service did meanwhile, and whether it lived through it."""

    def __init__(self, running: RunningService, usage_csv: Path, metrics_file: Path) -> None:
        self.running = running
        self.usage_csv, self.metrics_file = usage_csv, metrics_file
        self.problem = ""
        """Why the service made the run fail, in the words of a reason; empty where it did not."""
        self.lines: list[str] = []
        """The last ones of its log, where there is a problem."""
        self.warnings: list[str] = []
        self.metrics: dict[str, Any] = {}
        self._scraper: Scraper | None = None
        self._stack = ExitStack()
        self._begun = self._ended = self._cpu_s = self._cpu_at_begin = 0.0

    def fail(self, why: str) -> None:
        self.problem = why
        self.lines = self.running.last_lines()

    def begin(self) -> None:
        """Right before the program is started."""
        service = self.running.service
        if service.metrics is not None:
            url = self.running.address.join(service.metrics.path)
            self._scraper = Scraper(url, service.metrics.interval_s, self.metrics_file)
            self._stack.enter_context(self._scraper)
        self._cpu_at_begin = self.running.cpu_s()
        self._begun = time.monotonic()

    def finish(self) -> None:
        """Right after the program's end."""
        self._ended = time.monotonic()
        self._cpu_s = self.running.cpu_s() - self._cpu_at_begin
        self._stack.close()
        if self.running.over:
            ran_s = max(self.running.ended_at - self._begun, 0.0)
            how = self.running.how_it_ended()
            self.fail(f"the service {how} while the program ran, {ran_s:.1f} s after the program's start")
        self.running.runs += 1

    def collect(self) -> None:
        """After the service was ended, or while it is kept; then rows of the last half second may be missing."""
        running = self.running
        begin, end = self._begun - running.begun, self._ended - running.begun
        usage = ServiceUsage(running.samples, begin, end)
        try:
            usage.write(self.usage_csv)
        except OSError as error:
            self.warnings.append(f"{self.usage_csv.name} could not be written: {error.strerror}")
        self.metrics = {
            "service_ready_s": {"value": running.ready_s, "unit": "s", "better": "lower"},
            **usage.metrics(max(self._cpu_s, 0.0)),
        }
        if self._scraper is not None and running.service.metrics is not None:
            self.metrics |= summarise_readings(self._scraper.readings, running.service.metrics.names)
            self.warnings += _scraping_warnings(self._scraper, bool(self.problem))


def _scraping_warnings(scraper: Scraper, died: bool) -> list[str]:
    """Warnings about missing readings; none for a service that has died, since that is said already."""
    if scraper.failed and not (died and scraper.failed < scraper.count):
        times = f"{scraper.failed} of {scraper.count} times"
        return [f"the metrics page of the service could not be read {times}: {scraper.problem}"]
    if scraper.problem and not died:
        return [f"the metrics of the service are not complete: {scraper.problem}"]
    if not scraper.readings and not died:
        return ["the metrics page of the service holds no metric"]
    return []
