"""Copies a run's output to its files as it comes, byte for byte but for secrets."""

import errno
import os

from assay.process.output_mask import OutputMask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Pump:
    """One pipe into one or more files. A file that cannot be written never stops the run that writes."""

    def __init__(
        self,
        files: list[int],
        mask: "list[tuple[bytes, bytes]] | None" = None,
        shapes: "dict[str, Any] | None" = None,
    ) -> None:
        """`mask`: what is replaced and by what, longest first. `shapes`: what else is; see `ProcessSpec`."""
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.read_end, False)
        self._files = files
        self._mask = OutputMask(mask or [], shapes) if mask or shapes else None
        self.open = True
        self.error = ""
        self.tail = b""

    def close_write_end(self) -> None:
        os.close(self.write_end)

    def copy(self, at_most: int = 1 << 22) -> int:
        """Takes what is there, up to `at_most`; 0 when there is nothing now."""
        taken = 0
        while self.open and taken < at_most:
            try:
                data = os.read(self.read_end, 1 << 16)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            if not data:
                self.close()
                break
            taken += len(data)
            self._put(self._mask.feed(data) if self._mask else data)
        return taken

    def _put(self, data: bytes) -> None:
        self.tail = (self.tail + data)[-4096:]
        for file in self._files:
            self._write(file, data)

    def close(self) -> None:
        if self.open:
            self.open = False
            os.close(self.read_end)
            if self._mask:
                self._put(self._mask.end())

    def _write(self, file: int, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(file, view) :]
            except OSError as error:
                self.error = (
                    "no space left on the disk" if error.errno == errno.ENOSPC else os.strerror(error.errno or 0)
                )
                return
