from __future__ import annotations

from datetime import UTC, datetime

from assay.record.joined.job import StartedRun
from assay.record.joined.job_folder import JobFolder
from assay.session.events import Event, RunStarted


class JobListener:
    """Writes down which run a job is at, so that a job that is killed leaves word of it."""

    def __init__(self, folder: JobFolder) -> None:
        self._folder = folder

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            now = datetime.now(UTC).isoformat(timespec="microseconds")
            self._folder.begin(StartedRun(event.run_id, event.name, now))
