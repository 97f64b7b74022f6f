from __future__ import annotations

import fcntl
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from assay.untrusted.writing import create


class Neighbours:
    """Sessions that run on this machine now, by a lock file each: a killed session's lock is free by itself."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.gettempdir()) / f"assay-running-{os.getuid()}"
        self._file: int | None = None

    def others(self) -> list[str]:
        found = []
        for path in sorted(self._folder.glob("*.lock")):
            try:
                descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            except OSError:
                continue
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink(missing_ok=True)
            except BlockingIOError:
                found.append(os.read(descriptor, 4096).decode(errors="replace"))
            except OSError:
                continue
            finally:
                os.close(descriptor)
        return found

    def announce(self, session: str) -> None:
        """Tells others of this session. Where nothing can be written it tells nobody, and the session runs all the
        same."""
        path = self._folder / f"{os.getpid()}.lock"
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            self._file = create(path, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX)
            os.write(self._file, f"{session} (process {os.getpid()})".encode())

    def leave(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                (self._folder / f"{os.getpid()}.lock").unlink(missing_ok=True)
            os.close(self._file)
            self._file = None
