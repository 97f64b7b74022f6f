from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from assay.errors import DataError
from assay.record.session_kind import SessionKind, session_kind

Status = Literal["running", "finished", "interrupted"]


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
    joined: bool = False
    """Several jobs run it, each with `assay run --join`."""
    schema_version: int = 1

    def to_json(self) -> dict[str, Any]:
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> SessionInfo:
        known = {f.name for f in fields(cls)}
        values = {key: value for key, value in written.items() if key in known}
        missing = [key for key in ("name", "started_at") if not isinstance(values.get(key), str)]
        if missing:
            raise DataError(f"has no {' and no '.join(missing)}")
        values["kind"] = session_kind(written)
        for key in ("command", "config_files", "planned"):
            values[key] = tuple(values.get(key) or ())
        return cls(**values)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
