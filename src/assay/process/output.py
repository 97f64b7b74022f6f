"""Copies a run's output to its files, byte for byte, as it comes."""

import errno
import os


class Pump:
    """One pipe into one or more files. A file that cannot be written never stops the run that writes."""

    def __init__(self, files: list[int]) -> None:
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.read_end, False)
        self._files = files
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
            self.tail = (self.tail + data)[-4096:]
            for file in self._files:
                self._write(file, data)
        return taken

    def close(self) -> None:
        if self.open:
            self.open = False
            os.close(self.read_end)

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
