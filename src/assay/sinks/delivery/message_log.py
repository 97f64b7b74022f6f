from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from assay.record.writing.strict_json import encode, untag
from assay.sinks.delivery.message import Message
from assay.untrusted.json_text import parse_json
from assay.untrusted.read_limit import MOST_OF_A_LINE, RECORDS
from assay.untrusted.regular_file import RegularFile
from assay.untrusted.unreadable import Unreadable
from assay.untrusted.writing import open_existing


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
