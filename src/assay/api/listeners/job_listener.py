from __future__ import annotations

from datetime import UTC, datetime

from assay.record import Environment
from assay.record.joined.job import StartedRun
from assay.record.joined.job_folder import JobFolder
from assay.session.events import Event, RunStarted
from assay.session.joined.lost_record import make_lost_record
from assay.session.resume import keep_aside


class JobListener:
    """Writes down which run a job is at, so that a job that is killed leaves word of it.

    If another one was killed in the same run, that is recorded beside the run, as `--resume` does.
    """

    def __init__(self, folder: JobFolder, environment: Environment) -> None:
        self._folder = folder
        self._environment = environment

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            now = datetime.now(UTC).isoformat(timespec="microseconds")
            self._folder.begin(StartedRun(event.run_id, event.name, now))
            for other in self._folder.jobs.all():
                lost = make_lost_record(other, self._folder.path.name, self._environment)
                if other.id != self._folder.job.id and lost is not None and lost.run_id == event.run_id:
                    keep_aside(self._folder, lost)
