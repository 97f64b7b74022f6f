from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.record import Environment, Record, SessionInfo
from assay.sinks.delivery.message import Message

if TYPE_CHECKING:
    from assay.sinks.delivery.message_log import MessageLog
    from assay.sinks.delivery.sink_state import SinkState


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
