from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from assay.errors import DataError
from assay.files.json_text import encode, parse_json, read_json, untag
from assay.files.reading import MOST_OF_A_LINE, RECORDS, SESSION, RegularFile, Unreadable, check_own_folders
from assay.files.writing import open_existing, write_atomic
from assay.record import Environment, Record, SessionFolder, SessionInfo
from assay.sinks.delivery.sink_state import SinkState
from assay.sinks.sink import SinkSpec
from assay.sinks.sink_secrets import Secrets, resolve

Kind = Literal["session_started", "run_started", "run_finished", "session_finished"]


@dataclass(frozen=True)
class Message:
    """Something that happened, as every sink is told of it."""

    kind: Kind
    key: str
    """Names this message for good: `run_finished nightly/e/run-01`."""
    body: Mapping[str, Any]
    end: int = 0
    """Where the next one begins in the log."""


class MessageLog:
    """Everything the sinks are to be told, one line each, only ever appended to.

    The session's process writes it and never reads what delivery does; delivery reads it and never writes. So
    there is no lock between them, and a stopped or stuck delivery cannot hold up a run.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, message: Message) -> None:
        """Appends a message, which is on disk when this returns. A line that a crash cut short is closed off first."""
        line = encode({"key": message.key, "kind": message.kind, "body": message.body}).encode() + b"\n"
        descriptor = open_existing(self.path, permissions=0o600)
        try:
            end = os.lseek(descriptor, 0, os.SEEK_END)
            if end and os.pread(descriptor, 1, end - 1) != b"\n":
                line = b"\n" + line
            try:
                while line:
                    line = line[os.write(descriptor, line) :]
            except OSError:
                os.ftruncate(descriptor, end)
                raise
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def read(self, start: int) -> Iterator[Message]:
        """Whole messages from `start` on, one in memory at a time."""
        try:
            file = RegularFile(self.path, RECORDS)
        except FileNotFoundError:
            return
        with file:
            end = start
            for line in file.lines(MOST_OF_A_LINE, start):
                if not line.endswith(b"\n"):
                    return
                end += len(line)
                try:
                    written = parse_json(line, self.path, untag, own=True)
                    yield Message(written["kind"], written["key"], written["body"], end)
                except (Unreadable, KeyError, TypeError):
                    continue

    def read_keys(self) -> set[str]:
        return {message.key for message in self.read(0)}

    def count(self, start: int) -> int:
        return sum(1 for _ in self.read(start))

    def size(self) -> int:
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0


class Memory:
    """Key → value, on disk when `[]=` returns: what a sink must know after its process was killed."""

    def __init__(self, state: SinkState) -> None:
        self._state = state

    def get(self, key: str, default: Any = None) -> Any:
        return self._state.recall(key, default)

    def __setitem__(self, key: str, value: Any) -> None:
        self._state.remember(key, value)

    def __contains__(self, key: str) -> bool:
        return self._state.recall(key) is not None


@dataclass(frozen=True)
class Closing:
    """How a session ended."""

    info: SessionInfo
    changes: str
    """What changed against the last comparable session, in words; empty where nothing is known."""
    verdict: Mapping[str, Any] = field(default_factory=dict)
    """The verdict document; empty where there is none."""

    @property
    def result(self) -> str:
        """`pass`, `fail`, `regressed`, `cannot tell` or `nothing to compare with`."""
        return str(self.verdict.get("result") or "")


class SinkContext:
    """What a sink may know beside the message in hand."""

    def __init__(self, folder: Path, state: SinkState, log: MessageLog) -> None:
        self.folder = folder
        """The session's."""
        self.memory = Memory(state)
        self.session_name = ""
        self.info: SessionInfo | None = None
        self.environment = Environment()
        self.closing: Closing | None = None
        self.message_key = ""
        """Key of the message in hand, the same at every delivery. Show it where a service cannot be asked."""
        self._state = state
        self._log = log
        self._here = 0

    @property
    def backlog(self) -> int:
        """Bytes of messages waiting behind this one: 0 when this is the news, more when catching up."""
        return self._log.size() - self._here

    def announce(self, name: str, url: str) -> None:
        """Where to look at what was delivered; printed when the session ends."""
        self._state.link(name, url)

    def records(self) -> Iterator[Record]:
        """The results so far, up to the message in hand, one in memory at a time: what is no result
        (warm-ups, attempts that were repeated) left out."""
        for message in self._log.read(0):
            if message.end > self._here:
                return
            if message.kind == "run_finished":
                record = Record.from_json(message.body)
                if record.counts:
                    yield record

    def at(self, message: Message) -> None:
        self.message_key = message.key
        self._here = message.end


@dataclass(frozen=True)
class SinkData:
    """What an entry says to a sink that sends messages to people."""

    additional_metrics: tuple[str, ...] = ()
    ping_on_failure: tuple[str, ...] = ()

    @classmethod
    def parse(cls, said: Mapping[str, Any]) -> SinkData:
        return cls(_names(said.get("additional_metrics")), _names(said.get("ping_on_failure")))


NOTHING = SinkData()
KEYS = tuple(field.name for field in fields(SinkData))


def select_sink_data(written: Any, sink: str) -> dict[str, Any]:
    """`sink_data` is a list of mappings with the sink's `name`, or a mapping by the sink's name."""
    if isinstance(written, Mapping):
        own = written.get(sink)
        return dict(own) if isinstance(own, Mapping) else {}
    if isinstance(written, list | tuple):
        named = [item for item in written if isinstance(item, Mapping) and item.get("name") == sink]
        return {key: value for item in named for key, value in item.items() if key != "name"}
    return {}


def _names(written: Any) -> tuple[str, ...]:
    if isinstance(written, str):
        return (written,)
    return tuple(map(str, written)) if isinstance(written, list | tuple) else ()


class Outbox:
    """What a session's sinks are to be told and how far each has come, in the session's folder:

    outbox/messages.jsonl      everything, in order
    outbox/sinks.json          the sinks' configuration, secrets as `${NAME}`
    outbox/<sink>.sqlite       progress of one sink, and what it remembers
    outbox/<sink>.courier      held by its courier and whatever that starts, so that there is one
    outbox/delivery.log        what the delivery process printed
    outbox/delivery.lock       held by the delivery process, so that there is one
    """

    def __init__(self, session_folder: Path) -> None:
        self.session_folder = session_folder
        self.folder = session_folder / "outbox"
        self.log = MessageLog(self.folder / "messages.jsonl")
        check_own_folders(session_folder, (self.folder.name, "sinks"))

    @property
    def exists(self) -> bool:
        return (self.folder / "sinks.json").is_file()

    @property
    def lock(self) -> Path:
        return self.folder / "delivery.lock"

    @property
    def printed(self) -> Path:
        return self.folder / "delivery.log"

    def create(self, specs: Sequence[SinkSpec], secrets: Secrets) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomic(self.folder / "sinks.json", encode([secrets.with_references(spec) for spec in specs], indent=2))

    def specs(self) -> list[SinkSpec]:
        try:
            return [resolve(written) for written in read_json(self.folder / "sinks.json", SESSION, untag, own=True)]
        except FileNotFoundError:
            raise DataError(f"{self.session_folder} has no outbox: its session had no sinks") from None
        except (ValueError, TypeError, AttributeError) as error:
            raise DataError(f"{self.folder / 'sinks.json'}: {error}") from None

    def state(self, sink: str) -> SinkState:
        return SinkState(self.state_path(sink))

    def state_path(self, sink: str) -> Path:
        return self._sink_file(sink, "sqlite")

    def courier_path(self, sink: str) -> Path:
        return self._sink_file(sink, "courier")

    def _sink_file(self, sink: str, ending: str) -> Path:
        return self.folder / f"{re.sub(r'[^A-Za-z0-9_.-]', '_', sink)}.{ending}"

    def take_up_refused(self, only: Sequence[str] = ()) -> None:
        """What a sink has refused is tried once more by the next delivery."""
        for spec in self.specs():
            if (only and spec.name not in only) or not self.state_path(spec.name).is_file():
                continue
            state = self.state(spec.name)
            try:
                state.retry_aside()
            finally:
                state.close()

    def add(self, message: Message, secrets: Secrets) -> None:
        self.log.append(replace(message, body=secrets.mask_body(message.body)))

    def add_missed(self, secrets: Secrets) -> int:
        """Results that are in the session's folder but, for a kill at the wrong moment, not in the log."""
        known = self.log.read_keys()
        folder = SessionFolder(self.session_folder)
        missed = [record for record in folder.records() if run_finished_key(record) not in known]
        for record in missed:
            self.add(run_finished(record), secrets)
        return len(missed)


def run_finished_key(record: Record) -> str:
    return f"run_finished {record.run_id}"


def run_finished(record: Record) -> Message:
    return Message("run_finished", run_finished_key(record), record.to_json())
