from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from assay.record import SessionFolder
from assay.sinks.delivery.outbox import Outbox, run_finished_key
from assay.sinks.delivery.sink_state import SinkProgress
from assay.sinks.spec import SinkSpec

State = Literal["disabled", "delivered", "pending", "failing"]


@dataclass(frozen=True)
class SinkStatus:
    """How far one sink has been told."""

    name: str
    state: State
    delivered: int = 0
    pending: int = 0
    reason: str = ""
    """Why something is pending; empty where nothing is."""
    refused: tuple[tuple[str, str], ...] = ()
    """Messages that the service will never take, and why. They stay in the outbox."""
    links: tuple[tuple[str, str], ...] = ()
    """What is to be seen, and the address where."""

    def __str__(self) -> str:
        if self.state == "disabled":
            return f"{self.name}: disabled"
        line = f"{self.name}: {self.delivered} delivered"
        if self.pending:
            line += f", {self.pending} pending ({self.reason or 'delivery has not got to it yet'})"
            line += "; `assay sinks flush` delivers what is pending"
        if self.refused:
            key, why = self.refused[0]
            line += f", {len(self.refused)} refused ({key}: {why})"
        return line


def is_told(session_folder: Path, specs: Sequence[SinkSpec]) -> bool:
    """Whether every sink has heard of every result that the session's folder holds."""
    if not any(spec.enabled for spec in specs):
        return True
    outbox = Outbox(session_folder)
    if not outbox.exists:
        return False
    known = outbox.log.read_keys()
    records = SessionFolder(session_folder).records()
    heard = all(run_finished_key(record) in known for record in records)
    return heard and not any(status.pending for status in statuses(outbox, specs))


def statuses(outbox: Outbox, specs: Sequence[SinkSpec]) -> list[SinkStatus]:
    return [_status(outbox, spec) for spec in specs]


def _status(outbox: Outbox, spec: SinkSpec) -> SinkStatus:
    if not spec.enabled:
        return SinkStatus(spec.name, "disabled")
    if not outbox.state_path(spec.name).is_file():
        return SinkStatus(spec.name, "pending", pending=outbox.log.count(0), reason="delivery was never started")
    try:
        return _progress(outbox, spec)
    except (sqlite3.Error, TypeError, OSError) as error:
        return SinkStatus(spec.name, "failing", pending=outbox.log.count(0), reason=f"its state: {error}")


def _progress(outbox: Outbox, spec: SinkSpec) -> SinkStatus:
    state = outbox.state(spec.name)
    try:
        progress: SinkProgress = state.progress
        pending = outbox.log.count(progress.position)
        shown: State = "delivered" if not pending else "failing" if progress.failures else "pending"
        refused = tuple(state.aside().items())
        return SinkStatus(
            spec.name, shown, progress.delivered, pending, progress.reason if pending else "", refused, state.links()
        )
    finally:
        state.close()
