from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from assay.errors import DataError
from assay.files.checked_fields import Written
from assay.files.json_text import encode, read_json, untag
from assay.files.reading import SESSION
from assay.files.writing import write_atomic
from assay.record import RESULTS_FILE
from assay.record.heartbeat import Claims, is_alive
from assay.record.record import Outcome, Record
from assay.record.results_file import read_records

JobStatus = Literal["running", "finished", "interrupted", "refused"]
JOB_STATUSES: tuple[JobStatus, ...] = get_args(JobStatus)


@dataclass(frozen=True)
class StartedRun:
    """The run that a job is at. If the job is killed, this is what its interrupted record is made of."""

    run_id: str
    name: str
    started_at: str

    @classmethod
    def from_json(cls, written: Written) -> StartedRun:
        return cls(written.text("run_id"), written.text("name"), written.moment("started_at"))


@dataclass(frozen=True)
class Job:
    """What `job.json` says: one process that runs some of a joined session's entries, or finishes it."""

    id: str
    """Begins with the time it started, so that sorting gives the order."""
    host: str
    pid: int
    place: str
    """Boot of the machine and process namespace: within one place a process can be looked for by its number."""
    ticks: int
    """When the process started, by the kernel's clock: its number may be another process's later."""
    started_at: str
    status: JobStatus = "running"
    asked: tuple[str, ...] = ()
    """Entries it was started for."""
    planned: tuple[str, ...] = ()
    """Entries asked for, with the data setups and what they need: it runs them unless another job does."""
    runs: Mapping[str, int] = field(default_factory=dict)
    """How many runs each planned entry has, warm-ups among them: with a record of each it is done."""
    expect: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    at: StartedRun | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def words(self) -> str:
        return f"job {self.id} (host {self.host}, process {self.pid})"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: Any) -> Job:
        written = Written(values)
        status = written.one_of("status", JOB_STATUSES, "running")
        runs = written.object("runs")
        return cls(
            id=written.text("id"),
            host=written.text("host"),
            pid=written.whole("pid"),
            place=written.text("place"),
            ticks=written.whole("ticks"),
            started_at=written.text("started_at"),
            status=next(known for known in JOB_STATUSES if known == status),
            asked=written.texts("asked"),
            planned=written.texts("planned"),
            runs={name: runs.whole(name) for name in runs.values},
            expect=written.texts("expect"),
            command=written.texts("command"),
            at=StartedRun.from_json(written.object("at")) if written.values.get("at") else None,
            inputs=written.mapping("inputs"),
        )


NAME = ".jobs"
_SESSION = "session"


@dataclass(frozen=True)
class OpenEntry:
    """An entry that a joined session still waits for. `job` was the last to run it, if one ever did."""

    name: str
    job: Job | None
    running: bool

    @property
    def words(self) -> str:
        if self.job is None:
            return f"{self.name}: no job has started it"
        if self.running:
            return f"{self.name}: run by {self.job.words}"
        if self.job.status == "interrupted":
            return f"{self.name}: interrupted in {self.job.words}"
        return f"{self.name}: {self.job.words} ended without finishing it"


class Jobs:
    """The folder `.jobs` of a joined session. Each job writes only below its own name:

    .jobs/<job>/job.json  env.json  results.jsonl  session.log  alive
    .jobs/claims/<entry>.1             which job runs an entry; .2 took it over from a dead one
    .jobs/finish/session.1             which job puts the parts together
    .jobs/finished                     they are together, and everybody has been told
    """

    def __init__(self, session: Path) -> None:
        self.session = session
        self.folder = session / NAME
        self._entries = Claims(self.folder / "claims")
        self._finish = Claims(self.folder / "finish")

    @property
    def exist(self) -> bool:
        return self.folder.is_dir()

    @property
    def all_told(self) -> Path:
        return self.folder / "finished"

    def all(self) -> list[Job]:
        """Jobs in the order they started."""
        return [job for job in map(self.find, self._names()) if job is not None]

    def find(self, name: str) -> Job | None:
        """None for one that has not said yet who it is, or whose file is damaged."""
        try:
            return Job.from_json(read_json(self.folder / name / "job.json", SESSION, untag, own=True))
        except (OSError, DataError):
            return None

    def write(self, job: Job) -> None:
        write_atomic(self.folder / job.id / "job.json", encode(job.to_json(), indent=2))

    def lives(self, job: Job) -> bool:
        return is_alive(job, self.folder / job.id / "alive")

    def is_running(self, job: Job) -> bool:
        return job.status == "running" and self.lives(job)

    def running(self) -> list[Job]:
        return [job for job in self.all() if self.is_running(job)]

    def take(self, entry: str, job: Job) -> str:
        """Who runs the entry: `job`, unless another one does or has done so. What a dead job left is anybody's."""

        def is_left(holder: str) -> bool:
            found = self.find(holder)
            return (found is None or not self.is_running(found)) and not self.is_done(entry)

        return self._entries.take(entry, job.id, is_left)

    def is_done(self, entry: str) -> bool:
        return entry not in {found.name for found in self.open_entries()}

    def finisher(self) -> Job | None:
        holder = self._finish.holder(_SESSION)
        return self.find(holder) if holder is not None else None

    def finishing(self) -> str:
        """Who finishes the session, in words; empty if nobody has begun to."""
        finisher = self.finisher()
        if finisher is None:
            return ""
        if not self._has_given_up(finisher):
            return f"{finisher.words} is finishing it"
        again = f"`assay run --join {self.session.name} --finish` does so again"
        return f"{finisher.words} ended while finishing it; {again}"

    def claim_finish(self, job: Job) -> bool:
        """Whether this job is to finish the session; otherwise `finisher` is."""

        def is_gone(holder: str) -> bool:
            found = self.find(holder)
            return found is None or self._has_given_up(found)

        return self._finish.take(_SESSION, job.id, is_gone) == job.id

    def _has_given_up(self, finisher: Job) -> bool:
        return finisher.status == "interrupted" or not self.lives(finisher)

    def entries_expected(self) -> tuple[str, ...]:
        """Entries that some job was told to expect."""
        return tuple(dict.fromkeys(name for job in self.all() for name in job.expect))

    def entries_planned(self) -> tuple[str, ...]:
        """Entries of all jobs that were let in, and those expected."""
        planned = (name for job in self._let_in() for name in job.planned)
        return tuple(dict.fromkeys([*planned, *self.entries_expected()]))

    def open_entries(self) -> list[OpenEntry]:
        """Entries of which a run has no record yet, of all that were expected or begun."""
        runs = {name: number for job in self._let_in() for name, number in job.runs.items()}
        kept = (record for record in self.records() if not (record.superseded or record.outcome is Outcome.INTERRUPTED))
        recorded = Counter(record.name for record in kept)
        found = []
        for name in self.entries_planned():
            if name in runs and recorded[name] >= runs[name]:
                continue
            holder = self._entries.holder(name)
            job = self.find(holder) if holder else None
            if job is not None and job.status == "refused":
                job = None
            found.append(OpenEntry(name, job, job is not None and self.is_running(job)))
        return found

    def records(self) -> list[Record]:
        """Records in the order the runs started. Where two jobs recorded a run, a finished one wins, then the one of
        the job that holds its entry."""
        best: dict[str, tuple[tuple[bool, bool], Record]] = {}
        holders: dict[str, str | None] = {}
        for job, record in self._parts():
            if record.name not in holders:
                holders[record.name] = self._entries.holder(record.name)
            rank = (record.outcome is not Outcome.INTERRUPTED, holders[record.name] == job)
            if record.run_id not in best or best[record.run_id][0] < rank:
                best[record.run_id] = (rank, record)
        return sorted((record for _, record in best.values()), key=lambda record: record.started_at)

    def _let_in(self) -> list[Job]:
        return [job for job in self.all() if job.status != "refused"]

    def _parts(self) -> Iterator[tuple[str, Record]]:
        for name in self._names():
            for record in read_records(self.folder / name / RESULTS_FILE):
                yield name, record

    def _names(self) -> list[str]:
        try:
            return sorted(path.name for path in self.folder.iterdir() if path.is_dir())
        except FileNotFoundError:
            return []
