from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Literal

from assay.files.reading import Unreadable, check_database
from assay.files.writing import open_append
from assay.record import Environment, Record, SessionFolder, SessionInfo
from assay.sinks.delivery.outbox import Message, Outbox, run_finished, run_finished_key
from assay.sinks.delivery.sink_state import SinkProgress
from assay.sinks.sink import SinkSpec
from assay.sinks.sink_secrets import Secrets


class Links:
    """What sinks have announced so far, read while the delivery process goes on.

    Asked twice a second beside a run: a state that has not changed since is not opened.
    """

    def __init__(self, outbox: Outbox, sinks: list[str]) -> None:
        self._states = [outbox.state_path(name) for name in sinks]
        self._seen: dict[Path, tuple[int, ...]] = {}
        self._told: set[tuple[str, str]] = set()

    def new(self) -> list[tuple[str, str]]:
        """Links that were not there the last time: what is to be seen, and the address."""
        found = [link for state in self._states if self._has_changed(state) for link in _links(state)]
        new = [link for link in dict.fromkeys(found) if link not in self._told]
        self._told.update(new)
        return new

    def _has_changed(self, state: Path) -> bool:
        stamp = (*_stamp(state), *_stamp(state.with_name(f"{state.name}-wal")))
        changed = stamp != self._seen.get(state, (0, 0, 0, 0))
        self._seen[state] = stamp
        return changed


def _stamp(path: Path) -> tuple[int, int]:
    try:
        about = path.stat()
    except OSError:
        return 0, 0
    return about.st_size, about.st_mtime_ns


def _links(state: Path) -> list[tuple[str, str]]:
    try:
        check_database(state)
        with closing(sqlite3.connect(f"{state.as_uri()}?mode=ro", uri=True, timeout=0)) as database:
            return database.execute("SELECT name, url FROM link ORDER BY rowid").fetchall()
    except (sqlite3.Error, Unreadable):
        return []  # being made, or busy: it changes again


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


class Delivery:
    """Tells a session's sinks what happens, without waiting for any of them. Wire it to the session's events:

        delivery = Delivery(session_folder, sink_specs)         # specs: the mappings under `sinks:`, checked before
        delivery.session_started(info, environment)             #   with `check_spec`; on `--resume` just the same
        delivery.run_started(run_id, entry_name)
        delivery.run_finished(record)
        for name, url in delivery.new_links(): print(name, url)  # what sinks have announced since it was last asked
        delivery.session_finished(info, changes)                # changes: the lines "what changed" printed, or ""
        for status in delivery.close(wait_s=20): print(status)  # what is pending and why; status.links: URLs

    Each call appends one line to the outbox in the session's folder and wakes the delivery process; none raises
    and none waits for a sink. Without an enabled sink nothing is written and no process is started. What is still
    pending after `close` is delivered by `assay sinks flush`, or when the session is resumed.
    """

    def __init__(
        self, session_folder: Path, specs: Sequence[Mapping[str, Any]], linger_s: float = 60.0, tries: int = 2
    ) -> None:
        """`linger_s`: how long delivery goes on after this process is gone; `tries`: after how many failures, once the
        session is over, a sink is left pending."""
        self._begin(session_folder, [SinkSpec.parse(spec) for spec in specs], linger_s, tries)

    @classmethod
    def prepared(cls, session_folder: Path, linger_s: float = 60.0, tries: int = 2) -> Delivery:
        """Delivery for a session whose sinks `prepare` has written down, in this process or in another."""
        outbox = Outbox(Path(session_folder).resolve())
        delivery = cls.__new__(cls)
        delivery._begin(outbox.session_folder, outbox.specs() if outbox.exists else [], linger_s, tries)
        return delivery

    def prepare(self) -> None:
        """Writes down which sinks there are, unless another process has, and tells them nothing yet."""
        if self._active and not self._outbox.exists:
            self._outbox.create(self._specs, self._secrets)

    @property
    def specs(self) -> Sequence[SinkSpec]:
        return self._specs

    def _begin(self, session_folder: Path, specs: Sequence[SinkSpec], linger_s: float, tries: int) -> None:
        self._specs = specs
        self._outbox = Outbox(Path(session_folder).resolve())
        self._active = any(spec.enabled for spec in specs)
        self._linger_s = linger_s
        self._tries = tries
        self._worker: subprocess.Popen[bytes] | None = None
        self._news: IO[bytes] | None = None
        self._links = Links(self._outbox, [spec.name for spec in specs if spec.enabled])
        self._trouble: list[str] = []
        self._secrets = Secrets(specs if self._active else ())

    @classmethod
    def reopen(cls, session_folder: Path, linger_s: float, tries: int, only: Sequence[str] = ()) -> Delivery:
        """Delivery for a session that is over: `close` then delivers what is pending."""
        outbox = Outbox(Path(session_folder).resolve())
        delivery = cls.__new__(cls)
        delivery._begin(
            outbox.session_folder, [spec for spec in outbox.specs() if not only or spec.name in only], linger_s, tries
        )
        if delivery._active:
            with delivery._noting("results that are not in the outbox"):
                outbox.add_missed(delivery._secrets)
            with delivery._noting("the delivery process cannot be started"):
                delivery._start()
        return delivery

    def session_started(self, info: SessionInfo, environment: Environment) -> None:
        if not self._active:
            return
        key = f"session_started {info.name}"
        with self._noting("the outbox cannot be written"):
            if not any(spec.missing for spec in self._specs):
                self._outbox.create(self._specs, self._secrets)
            if key not in self._outbox.log.read_keys():
                told = {"info": {**info.to_json(), "plan": {}}, "environment": environment.to_json()}
                self._outbox.add(Message("session_started", key, told), self._secrets)
        with self._noting("results of the interrupted session"):
            self._outbox.add_missed(self._secrets)
        with self._noting("the delivery process cannot be started"):
            self._start()

    def run_started(self, run_id: str, name: str) -> None:
        self._append(Message("run_started", f"run_started {run_id}", {"run_id": run_id, "name": name}))

    def run_finished(self, record: Record) -> None:
        if not self._active:
            return
        with self._noting(record.run_id):
            self._append(run_finished(record))

    def new_links(self) -> list[tuple[str, str]]:
        """Where to look, announced by sinks since this was last asked."""
        return self._links.new()

    def session_finished(self, info: SessionInfo, changes: str = "", verdict: Mapping[str, Any] | None = None) -> None:
        if not self._active:
            return
        key = f"session_finished {info.name} {info.finished_at or time.time()}"
        with self._noting(key):
            if key in self._outbox.log.read_keys():
                return
        told = {"info": {**info.to_json(), "plan": {}}, "changes": changes, "verdict": verdict}
        self._append(Message("session_finished", key, told))

    def close(self, wait_s: float = 20.0) -> list[SinkStatus]:
        """Lets delivery finish: at most `wait_s`, and no longer than there is hope (every pending sink failing)."""
        if not self._active:
            return statuses(self._outbox, self._specs)
        with contextlib.suppress(OSError):
            if self._news is not None:
                self._news.close()
        if self._worker is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._worker.wait(wait_s)
            _end(self._worker)
        try:
            found = statuses(self._outbox, self._specs)
        except (OSError, sqlite3.Error) as error:
            found = [SinkStatus(spec.name, "failing", reason=str(error)) for spec in self._specs if spec.enabled]
        if not self._trouble:
            return found
        return [*found, SinkStatus("outbox", "failing", reason="; ".join(self._trouble), pending=len(self._trouble))]

    def _append(self, message: Message) -> None:
        if not self._active:
            return
        with self._noting(message.key):
            self._outbox.add(message, self._secrets)
        self._kick()

    def _kick(self) -> None:
        if self._news is not None:
            # A full pipe means that delivery has been woken already; a broken one that it died: `close` says so.
            with contextlib.suppress(OSError, ValueError):
                os.write(self._news.fileno(), b"k")

    def _start(self) -> None:
        with open_append(self._outbox.printed, "ab") as printed:
            self._worker = subprocess.Popen(
                [
                    *(sys.executable, "-m", "assay.sinks.delivery.worker", str(self._outbox.session_folder)),
                    *("--linger", str(self._linger_s), "--tries", str(self._tries)),
                ],
                stdin=subprocess.PIPE,
                stdout=printed,
                stderr=printed,
                # Ctrl-C is for the session, which then ends delivery itself.
                start_new_session=True,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
                    "ASSAY_SESSION": str(self._outbox.session_folder),
                },
            )
        self._news = self._worker.stdin
        assert self._news is not None
        self._news.write(json.dumps([asdict(spec) for spec in self._specs]).encode() + b"\n")
        self._news.flush()
        os.set_blocking(self._news.fileno(), False)

    @contextlib.contextmanager
    def _noting(self, what: str) -> Any:
        """Notes an error of the disk instead of raising it: a full disk must not cost a run its result. What is lost
        here is in results.jsonl, and found there later."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not reach the run
            self._trouble.append(self._secrets.mask(f"{what}: {error}"))


def _end(worker: subprocess.Popen[bytes]) -> None:
    if worker.poll() is None:
        worker.terminate()
        try:
            worker.wait(5)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()
