"""A mark in an object store that says "I am at work", kept fresh by a thread for as long as its owner lives.

No clock is trusted: who waits for a mark watches it, and takes its owner for dead when it did not change for
`EXPIRY_S` of the watcher's own time. An owner that stood still for so long finds its mark gone, and begins again.
"""

from __future__ import annotations

import time
from threading import Event, Thread
from types import TracebackType
from typing import Self
from uuid import uuid4

from assay.errors import DataError, UsageError
from assay.weights.remotes.remote_files import RemoteFiles

EXPIRY_S = 30.0
RENEWAL_S = 5.0
_LOOK_S = 0.1


class LostLease(DataError):
    """Its owner stood still for so long that others took it for dead."""


class Lease:
    """`place` must be a new name, or, if one owner at a time is wanted, a name that all of them use."""

    def __init__(self, files: RemoteFiles, *place: str) -> None:
        self._files, self._place = files, place
        self._owner = uuid4().hex
        self._number = 0
        self._left = Event()
        self._renewed = 0.0
        self._thread = Thread(target=self._renew, name="lease", daemon=True)

    def take(self) -> bool:
        """False if somebody else has it."""
        try:
            self._files.create(self._mark(), *self._place)
        except FileExistsError:
            return False
        self._renewed = time.monotonic()
        return True

    def __enter__(self) -> Self:
        """Begins to keep the mark fresh; the lease must have been taken."""
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._left.set()
        self._thread.join()
        try:
            if self._is_ours():
                self._files.remove(*self._place)
        except DataError:
            # What was done under it is done. It expires by itself.
            return

    def check(self) -> None:
        """Raises `LostLease` if somebody else may have taken us for dead."""
        if time.monotonic() - self._renewed > EXPIRY_S / 2 or not self._is_ours():
            raise LostLease(f"{self._files.url} was not written in time: this process stood still; try again")

    def _mark(self) -> bytes:
        return f"{self._owner} {self._number}\n".encode()

    def _is_ours(self) -> bool:
        try:
            return self._files.read(*self._place).startswith(self._owner.encode())
        except FileNotFoundError:
            return False

    def _renew(self) -> None:
        while not self._left.wait(RENEWAL_S):
            began = time.monotonic()
            try:
                # Who stood still has lost it, and must not bring it back.
                if began - self._renewed > EXPIRY_S / 2 or not self._is_ours():
                    return
                self._number += 1
                self._files.write(self._mark(), *self._place)
            except DataError:
                continue
            self._renewed = began


def await_end(files: RemoteFiles, patience_s: float, *place: str) -> None:
    """Waits until that mark is gone. One that does not change for `EXPIRY_S` is removed."""
    began = changed = time.monotonic()
    last = None
    while True:
        try:
            mark = files.read(*place)
        except FileNotFoundError:
            return
        now = time.monotonic()
        if mark != last:
            last, changed = mark, now
        if now - changed > EXPIRY_S:
            files.remove(*place)
            return
        if now - began > patience_s:
            raise UsageError(f"another process is writing to {files.url}; try again when it is done")
        time.sleep(_LOOK_S)
