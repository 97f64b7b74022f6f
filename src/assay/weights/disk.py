"""Every change to a repository's files goes through here, in an order that survives losing power.

A file is written under a temporary name, synced, renamed, and its folder synced. So a file under its final name is
whole, and a reference is only ever written after what it refers to. Tests replace `Disk` to record and replay writes.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from assay.errors import DataError


class Disk:
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
        try:
            file = self.create(temporary)
            self.write(file, data)
            self.sync(file)
            self.publish(temporary, target)
        except OSError as error:
            raise DataError(f"{target} cannot be written: {error.strerror}") from None
