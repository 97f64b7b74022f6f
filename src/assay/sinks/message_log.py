from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from assay.record.strict_json import decode, encode
from assay.sinks.message import Message


class MessageLog:
    """Everything the sinks are to be told, one line each, only ever appended to.

    The session's process writes it and never reads what delivery does; delivery reads it and never writes. So
    there is no lock between them, and a stopped or stuck delivery cannot hold up a run.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, message: Message) -> None:
        """On disk when this returns. A line that a crash cut short is closed off first."""
        line = encode({"key": message.key, "kind": message.kind, "body": message.body}).encode() + b"\n"
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
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
        if not self.path.is_file():
            return
        with self.path.open("rb") as lines:
            lines.seek(start)
            end = start
            for line in lines:
                if not line.endswith(b"\n"):
                    return
                end += len(line)
                try:
                    written = decode(line)
                    yield Message(written["kind"], written["key"], written["body"], end)
                except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError):
                    continue

    def known(self) -> set[str]:
        return {message.key for message in self.read(0)}

    def count(self, start: int) -> int:
        return sum(1 for _ in self.read(start))

    def size(self) -> int:
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0
