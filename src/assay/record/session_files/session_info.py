from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from assay.record.session_files.session_kind import SessionKind, session_kind
from assay.untrusted.written import Written

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
