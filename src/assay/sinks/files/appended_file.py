from __future__ import annotations

import fcntl
import os
from pathlib import Path

from assay.sinks.delivery.context import Memory
from assay.untrusted.writing import open_existing


class AppendedFile:
    """A file that grows by whole pieces, each once: before a piece is written, where it will begin is remembered,
    so that after a kill one look there tells whether it was. Several sessions may append to the same file."""

    def __init__(self, path: Path, memory: Memory, session: Path) -> None:
        """A link is followed only outside of the session's folder, where the user put it."""
        self._path = path
        self._follow_links = not path.is_relative_to(session)
        self._memory = memory

    def append(self, key: str, piece: str, heading: str = "") -> None:
        """`heading` is written first into a file that is empty."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        data = piece.encode()
        descriptor = open_existing(self._path, follow_links=self._follow_links)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            end = os.lseek(descriptor, 0, os.SEEK_END)
            begun = self._memory.get(f"written {key}")
            if begun is not None and begun <= end and data in os.pread(descriptor, end - begun, begun):
                return
            if end and os.pread(descriptor, 1, end - 1) != b"\n":
                data = b"\n" + data
            self._memory[f"written {key}"] = end
            if not end:
                data = heading.encode() + data
            try:
                _write_all(descriptor, data)
            except OSError:
                os.ftruncate(descriptor, end)
                raise
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
