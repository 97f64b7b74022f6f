from __future__ import annotations

import os
import tempfile
from typing import Any

from assay.pipeline.resources import Worker
from assay.pipeline.stage import Stage


class Disk(Stage[Any, Any]):
    """Writes `kilobytes` to a file of its own a call, syncs them to the device if asked, and reads them back."""

    name = "disk"

    def __init__(self, kilobytes: int = 256, folder: str | None = None, sync: bool = True, file_mb: int = 64) -> None:
        if kilobytes < 1 or file_mb * 1000 < kilobytes:
            raise ValueError("kilobytes must be at least 1 and fit into file_mb")
        self.kilobytes = kilobytes
        self.folder = folder
        self.sync = sync
        self.file_mb = file_mb
        self._at = 0

    def setup(self, worker: Worker) -> None:
        self._block = os.urandom(self.kilobytes * 1000)
        # Without a name: nothing is left behind, however the process ends.
        self._file = tempfile.TemporaryFile(dir=self.folder, buffering=0)  # noqa: SIM115  (closed at tear-down)

    def process(self, data: Any) -> Any:
        descriptor = self._file.fileno()
        os.pwrite(descriptor, self._block, self._at)
        if self.sync:
            os.fdatasync(descriptor)
        os.pread(descriptor, len(self._block), self._at)
        self._at += len(self._block)
        if self._at + len(self._block) > self.file_mb * 1_000_000:
            self._at = 0
        return data

    def teardown(self) -> None:
        self._file.close()
