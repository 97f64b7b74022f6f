"""Copies a run's output to its files as it comes, byte for byte but for secrets."""

import errno
import os


class Pump:
    """One pipe into one or more files. A file that cannot be written never stops the run that writes."""

    def __init__(self, files: list[int], mask: "list[tuple[bytes, bytes]] | None" = None) -> None:
        """`mask`: what is replaced and by what, longest first; the start of one at a block's end waits for more."""
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.read_end, False)
        self._files = files
        self._mask = mask or []
        self._held = b""
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
            self._put(self._mask_data(data) if self._mask else data)
        return taken

    def _mask_data(self, data: bytes) -> bytes:
        data = self._held + data
        for value, shown in self._mask:
            if value in data:
                data = data.replace(value, shown)
        held = max(_beginning_length(data, value) for value, _ in self._mask)
        self._held = data[len(data) - held :]
        return data[: len(data) - held]

    def _put(self, data: bytes) -> None:
        self.tail = (self.tail + data)[-4096:]
        for file in self._files:
            self._write(file, data)

    def close(self) -> None:
        if self.open:
            self.open = False
            os.close(self.read_end)
            self._put(self._held)
            self._held = b""

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


def _beginning_length(data: bytes, value: bytes) -> int:
    """Bytes at the end of `data` that could be the beginning of `value`."""
    at = max(0, len(data) - len(value) + 1)
    while True:
        at = data.find(value[:1], at)
        if at < 0:
            return 0
        if value.startswith(data[at:]):
            return len(data) - at
        at += 1
