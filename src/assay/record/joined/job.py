from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from assay.untrusted.written import Written

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
