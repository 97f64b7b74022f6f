from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from assay.errors import DataError
from assay.files.checked_fields import Written
from assay.files.json_text import encode, read_json, shorten, untag
from assay.files.reading import SESSION, Unreadable
from assay.files.writing import write_atomic
from assay.record import COMPARISON_FILE, ENVIRONMENT_FILE, LOG_FILE, REPORT_FILE, RESULTS_FILE, SESSION_FILE
from assay.record.environment import Environment
from assay.record.jobs import Job, Jobs, StartedRun
from assay.record.record import Outcome, Record
from assay.record.results_file import read_records

SessionKind = Literal["run", "ab", "calibrate", "confirm", "rerun", "profile", "import"]
KINDS: tuple[SessionKind, ...] = get_args(SessionKind)

EXPERIMENTS: tuple[SessionKind, ...] = ("ab", "calibrate", "confirm", "profile")
"""Sessions whose runs answer one question: no trend and no baseline is made of them."""
BASELINES: tuple[SessionKind, ...] = ("run", "import")
"""Sessions that a later one may be held against. A rerun is one run of one entry, mostly of one that looked odd."""


def session_kind(written: Mapping[str, Any]) -> SessionKind:
    """What `session.json` says; for files from before it said so, what follows from the command that wrote them."""
    said = written.get("kind")
    if said is None:
        return _infer_kind(written)
    for kind in KINDS:
        if said == kind:
            return kind
    raise DataError(f"has kind {shorten(repr(said), 80)}, which is none of {', '.join(KINDS)}")


def _infer_kind(written: Mapping[str, Any]) -> SessionKind:
    command = written.get("command")
    word = command[1] if isinstance(command, list | tuple) and len(command) > 1 else None
    if word == "ab":
        return "confirm" if str(written.get("name")).startswith("confirm-") else "ab"
    if word == "calibrate":
        return "calibrate"
    reason = str(written.get("reason") or "")
    if word == "rerun" and reason.startswith("rerun of "):
        return "rerun"
    # Only what was read from another tool's file was started by no command and no process.
    if reason.startswith("imported from ") and not command and written.get("pid") is None:
        return "import"
    return "run"


Status = Literal["running", "finished", "interrupted"]
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True)
class SessionInfo:
    """What `session.json` says: written when the session starts and again when it ends."""

    name: str
    started_at: str
    status: Status = "running"
    finished_at: str | None = None
    command: tuple[str, ...] = ()
    config_files: tuple[str, ...] = ()
    reason: str | None = None
    pid: int | None = None
    planned: tuple[str, ...] = ()
    """Names of the entries, in order."""
    plan: Mapping[str, Any] = field(default_factory=dict)
    """The resolved plan, for `--resume` and `rerun`; secrets masked."""
    kind: SessionKind = "run"
    """Which command it is of. `latest` and baselines are ordinary sessions, kind `run`."""
    viewer_url: str | None = None
    """Where else it can be looked at, as its files or its command line say."""
    tags: tuple[str, ...] = ()
    """What the session is found by, as its files and its command line say."""
    entry_tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Tags by entry, for those that have any."""
    runs: Mapping[str, int] = field(default_factory=dict)
    """How often each entry is to be run, warm-ups included; empty in files from before it was written down."""
    limits_s: Mapping[str, float] = field(default_factory=dict)
    """Time limit of one run of each entry."""
    joined: bool = False
    """Several jobs run it, each with `assay run --join`."""
    schema_version: int = 1

    @property
    def of_commands(self) -> bool:
        """Whether it is one of commands of the command line, without files."""
        return bool(self.plan.get("command") or self.plan.get("commands"))

    def to_json(self) -> dict[str, Any]:
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> SessionInfo:
        written = Written(values)
        tagged, runs = written.object("entry_tags"), written.object("runs")
        status = written.one_of("status", STATUSES, "running")
        return cls(
            name=written.text("name"),
            started_at=written.moment("started_at"),
            status=next(known for known in STATUSES if known == status),
            finished_at=written.moment_or_none("finished_at"),
            command=written.texts("command"),
            config_files=written.texts("config_files"),
            reason=written.text_or_none("reason"),
            pid=written.whole_or_none("pid"),
            planned=written.texts("planned"),
            plan=written.mapping("plan"),
            kind=session_kind(values),
            viewer_url=written.text_or_none("viewer_url"),
            tags=written.texts("tags"),
            entry_tags={name: tagged.texts(name) for name in tagged.values},
            runs={name: runs.whole(name) for name in runs.values},
            limits_s=written.number_mapping("limits_s"),
            joined=written.flag("joined", False),
            schema_version=written.whole("schema_version", 1),
        )


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    return list(value) if isinstance(value, tuple) else value


class SessionFolder:
    """A session on disk. Everything else (history, report) can be made anew from it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def own(self) -> Path:
        """Where the process that runs it keeps what is its alone."""
        return self.path

    @property
    def lock(self) -> Path | None:
        return self.path / ".lock"

    @property
    def results(self) -> Path:
        return self.path / RESULTS_FILE

    @property
    def report(self) -> Path:
        return self.path / REPORT_FILE

    @property
    def log(self) -> Path:
        return self.path / LOG_FILE

    @staticmethod
    def is_one(path: Path) -> bool:
        """False, too, for what no file system could hold: such a name is nobody's session."""
        return os.path.isfile(path / SESSION_FILE)

    def info(self) -> SessionInfo:
        written = self._read(SESSION_FILE)
        if "kind" not in written and (self.path / COMPARISON_FILE).is_file():
            written["kind"] = "ab"  # from before it was written down: only an A/B leaves that file
        try:
            info = SessionInfo.from_json(written)
        except DataError as error:
            raise Unreadable(self.path / SESSION_FILE, str(error)) from None
        if info.joined and info.status == "running":
            return replace(info, planned=Jobs(self.path).entries_planned())
        return info

    def write_info(self, info: SessionInfo) -> None:
        write_atomic(self.path / SESSION_FILE, encode(info.to_json(), indent=2))

    def environment(self) -> Environment:
        return self._environment(ENVIRONMENT_FILE)

    def _environment(self, name: str) -> Environment:
        try:
            return Environment.from_json(self._read(name))
        except Unreadable:
            raise
        except DataError as error:
            raise Unreadable(self.path / name, str(error)) from None

    def write_environment(self, environment: Environment) -> None:
        write_atomic(self.path / ENVIRONMENT_FILE, encode(environment.to_json(), indent=2))

    def records(self) -> list[Record]:
        """Records in the order the runs ended. A run is there once, whatever was interrupted.

        Jobs that joined a session have a part each until one of them has put the parts together.
        """
        jobs = Jobs(self.path)
        if jobs.exist and not self.results.is_file():
            return jobs.records()
        by_run = {record.run_id: record for record in read_records(self.results)}
        return list(by_run.values())

    def _read(self, name: str) -> dict[str, object]:
        path = self.path / name
        try:
            written = read_json(path, SESSION, untag, own=True)
        except FileNotFoundError:
            raise DataError(f"{self.path} is not a session folder: it has no {name}") from None
        if not isinstance(written, dict):
            raise Unreadable(path, "is not a JSON object")
        return written


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
        return self.own / RESULTS_FILE

    @property
    def log(self) -> Path:
        return self.own / LOG_FILE

    @property
    def lock(self) -> Path | None:
        return None  # no other process has this job's name, and not every shared file system has locks

    def environment(self) -> Environment:
        return self._environment(f".jobs/{self.job.id}/env.json")

    def write_own_environment(self, environment: Environment) -> None:
        write_atomic(self.own / ENVIRONMENT_FILE, encode(environment.to_json(), indent=2))

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
