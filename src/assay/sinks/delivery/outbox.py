from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assay.errors import DataError
from assay.record import Record, SessionFolder
from assay.record.writing.strict_json import encode, untag
from assay.sinks.delivery.message import Message
from assay.sinks.delivery.message_log import MessageLog
from assay.sinks.delivery.sink_state import SinkState
from assay.sinks.secrets import Secrets, resolve
from assay.sinks.spec import SinkSpec
from assay.untrusted.json_text import read_json
from assay.untrusted.read_limit import SESSION
from assay.untrusted.regular_file import check_own_folders
from assay.untrusted.writing import write_atomic


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
