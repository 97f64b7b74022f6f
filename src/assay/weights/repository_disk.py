"""Every change to a repository's files goes through here, in an order that survives losing power.

A file is written under a temporary name, synced, renamed, and its folder synced. So a file under its final name is
whole, and a reference is only ever written after what it refers to. Tests replace it to record and replay writes.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from threading import RLock
from types import TracebackType
from typing import BinaryIO
from uuid import uuid4

from assay.errors import DataError, UsageError
from assay.files.reading import open_regular
from assay.files.writing import open_existing


def bytes_on_disk(folder: Path) -> int:
    """Bytes of every file in a store's folder, its index included: what a store takes, counted from outside."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


FOLDERS = ("commits", "packs", "tmp")
"""Folders inside a repository."""


def check_unused(path: Path) -> None:
    if (path / "format").exists():
        raise UsageError(f"{path} is a repository already; open it, or choose another folder")
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UsageError(f"{path} is not an empty folder; choose another one for the repository")


@contextmanager
def new_folder(path: Path) -> Iterator[None]:
    """A folder that is not there yet, or empty, is filled as a whole or left as it was."""
    existed = path.exists()
    try:
        yield
    except BaseException as error:
        for made in path.iterdir() if existed else (path,):
            if made.is_dir() and not made.is_symlink():
                rmtree(made, ignore_errors=True)
            else:
                made.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise DataError(f"{path} cannot be written: {error.strerror}") from None
        raise


PREFIX = "push-"
_ATTEMPTS = 8


class WorkFolder:
    """A folder for files on their way out, beside a repository's other temporary files and without its lock.

    It is locked itself while it is in use, so that a collection leaves it alone; the kernel lets go when its owner
    dies.
    """

    def __init__(self, temporary: Path) -> None:
        self._path = temporary / f"{PREFIX}{uuid4().hex}"
        self._handle = -1

    def __enter__(self) -> Path:
        for _ in range(_ATTEMPTS):
            try:
                self._path.mkdir()
                self._handle = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise DataError(f"{self._path.parent} cannot be written: {error.strerror}") from None
            fcntl.flock(self._handle, fcntl.LOCK_EX)
            # A collection may have removed it before it was locked.
            if self._path.is_dir():
                return self._path
            os.close(self._handle)
        raise DataError(f"{self._path.parent} cannot be written: folders in it vanish; does it exist?")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        rmtree(self._path, ignore_errors=True)
        os.close(self._handle)


def is_in_use(path: Path) -> bool:
    """Whether that is somebody's work folder."""
    if not path.name.startswith(PREFIX):
        return False
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


PATIENCE_S = 60.0


class WriterLock:
    """One writer at a time, over processes and threads; the kernel lets go when a writer dies. May be taken again.

    A process that forks while it is held hands its child the open file, with it the kernel's lock (flock(2)), and the
    state of threads that are not there. So it is unlocked before it is closed, and in a child it begins anew.
    """

    def __init__(self, path: Path, patience_s: float = PATIENCE_S) -> None:
        self._path, self._patience_s = path, patience_s
        self._handle = -1
        self._depth = 0
        self._threads = RLock()
        self._process = os.getpid()

    def __enter__(self) -> WriterLock:
        if self._process != os.getpid():
            self._begin_anew()
        self._threads.acquire()
        try:
            if self._depth == 0:
                self._take()
            self._depth += 1
        except BaseException:
            self._threads.release()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if self._process != os.getpid():
            return  # A child that leaves its parent's block: the lock is the parent's.
        self._depth -= 1
        if self._depth == 0:
            fcntl.flock(self._handle, fcntl.LOCK_UN)
            os.close(self._handle)
        self._threads.release()

    def _begin_anew(self) -> None:
        if self._depth:
            os.close(self._handle)
        self._handle, self._depth, self._threads, self._process = -1, 0, RLock(), os.getpid()

    def _take(self) -> None:
        try:
            handle = open_existing(self._path)
        except OSError as error:
            raise DataError(f"{self._path.parent} cannot be written: {error.strerror}") from None
        until = time.monotonic() + self._patience_s
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    os.close(handle)
                    raise UsageError(
                        f"another process is writing to {self._path.parent}; try again when it is done"
                    ) from None
                time.sleep(0.02)
        self._handle = handle


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
