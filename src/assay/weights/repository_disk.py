"""Every change to a repository's files goes through here, in an order that survives losing power.

A file is written under a temporary name, synced, renamed, and its folder synced. So a file under its final name is
whole, and a reference is only ever written after what it refers to. Tests replace it to record and replay writes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from assay.errors import DataError
from assay.untrusted.regular_file import open_regular

_BLOCK = 1 << 20


class RepositoryDisk:
    def create(self, path: Path) -> BinaryIO:
        return path.open("xb", buffering=1 << 20)

    def write(self, file: BinaryIO, data: bytes | memoryview) -> None:
        file.write(data)

    def sync(self, file: BinaryIO) -> None:
        file.flush()
        os.fsync(file.fileno())
        file.close()

    def rename(self, source: Path, target: Path) -> None:
        source.replace(target)

    def sync_folder(self, folder: Path) -> None:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    def publish(self, source: Path, target: Path) -> None:
        """A synced temporary file becomes visible, for good."""
        self.rename(source, target)
        self.sync_folder(target.parent)

    def write_file(self, temporary: Path, target: Path, data: bytes) -> None:
        self._place(temporary, target, (data,))

    def copy_file(self, source: Path, temporary: Path, target: Path) -> None:
        with open(open_regular(source), "rb") as file:
            self._place(temporary, target, iter(lambda: file.read(_BLOCK), b""))

    def _place(self, temporary: Path, target: Path, pieces: Iterable[bytes]) -> None:
        try:
            file = self.create(temporary)
            try:
                for piece in pieces:
                    self.write(file, piece)
                self.sync(file)
                self.publish(temporary, target)
            except OSError:
                self.give_up(file, temporary)
                raise
        except OSError as error:
            raise DataError(f"{target} cannot be written: {error.strerror}") from None

    def give_up(self, file: BinaryIO, temporary: Path) -> None:
        """After an error: what did not get to the disk need not, and what did makes room."""
        with suppress(OSError):
            file.close()
        with suppress(OSError):
            self.remove(temporary)
