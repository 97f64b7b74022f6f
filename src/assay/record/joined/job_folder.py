from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from assay.record.joined.job import Job, StartedRun
from assay.record.joined.jobs import Jobs
from assay.record.outcome import Outcome
from assay.record.record import Record
from assay.record.session_files.session_folder import SessionFolder
from assay.record.session_files.session_info import SessionInfo
from assay.record.surroundings.environment import Environment
from assay.record.writing.strict_json import encode
from assay.untrusted.writing import write_atomic


class JobFolder(SessionFolder):
    """A joined session as one of its jobs sees it: runs are where they always are, what it says of them is its own."""

    def __init__(self, path: Path, job: Job) -> None:
        super().__init__(path)
        self.jobs = Jobs(path)
        self.job = job

    @property
    def own(self) -> Path:
        return self.jobs.folder / self.job.id

    @property
    def results(self) -> Path:
        return self.own / "results.jsonl"

    @property
    def log(self) -> Path:
        return self.own / "session.log"

    @property
    def lock(self) -> Path | None:
        return None  # no other process has this job's name, and not every shared file system has locks

    def environment(self) -> Environment:
        return self._environment(f".jobs/{self.job.id}/env.json")

    def write_own_environment(self, environment: Environment) -> None:
        write_atomic(self.own / "env.json", encode(environment.to_json(), indent=2))

    def write_info(self, info: SessionInfo) -> None:
        """Writes the job's state: what ends is this job, not the session."""
        self._change(replace(self.job, status=info.status, at=None))

    def go_on(self) -> None:
        """Notes that the job goes on: it has taken over what another job has left."""
        self._change(replace(self.job, status="running"))

    def begin(self, run: StartedRun) -> None:
        self._change(replace(self.job, at=run))

    def give_up(self) -> None:
        self._change(replace(self.job, status="interrupted"))

    def refuse(self) -> None:
        self._change(replace(self.job, status="refused"))

    def records(self) -> list[Record]:
        """Records of all jobs; an interrupted run is left out, since it runs again."""
        return [record for record in self.jobs.records() if record.outcome is not Outcome.INTERRUPTED]

    def _change(self, job: Job) -> None:
        self.job = job
        self.jobs.write(job)
