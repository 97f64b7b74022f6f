from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from assay.errors import DataError


class Unreadable(DataError):
    """What others wrote cannot be read, and why: `reason` goes on where `where` (a path, or path:line) begins."""

    def __init__(self, where: Path | str, reason: str) -> None:
        self.where = str(where)
        self.reason = reason
        super().__init__(f"{self.where}: {reason}")


MB = 2**20


@dataclass(frozen=True)
class ReadLimit:
    """What reading one file may cost."""

    most_bytes: int
    follow_links: bool = False
    """Whether links are followed: only in a path that the user names; what a run wrote must not lead elsewhere."""
    seconds: float | None = None
    """Reading that takes longer is given up between two blocks; what is then done with the bytes is not bounded."""

    @property
    def size(self) -> str:
        return f"{self.most_bytes // MB} MB" if self.most_bytes >= MB else f"{self.most_bytes} bytes"


RESULT = ReadLimit(64 * MB)
"""`params.json`, `metrics.json`: what a benchmark program wrote."""
TASKS = ReadLimit(512 * MB)
RECORDS = ReadLimit(16 * 1024 * MB)
"""A file of records, read a line at a time; one line has at most `MOST_OF_A_LINE` bytes."""
MOST_OF_A_LINE = 1024 * MB
SESSION = ReadLimit(64 * MB)
"""`session.json`, `env.json`, and what else Assay keeps where others can write."""
USAGE = ReadLimit(1024 * MB)
LOG = ReadLimit(1 << 62)
"""Only the end of a log is read."""
WEIGHTS_PART = ReadLimit(1 << 62)
"""A pack of a repository, of which one piece at a time is read."""
NAMED = ReadLimit(256 * MB, follow_links=True)
"""A file of another tool that the user names."""
TRACE = ReadLimit(4 * 1024 * MB, follow_links=True)
"""Send times of a load, read a line at a time; one line has at most 1 MB."""
WEIGHTS = ReadLimit(1 << 62, follow_links=True)
"""A file of weights is mapped, not read; its header and its pickle have limits of their own."""


def inside(folder: Path, written: str) -> Path | None:
    """Where a name or path that others wrote leads, below `folder`; it need not be there.

    None where it leads out of the folder or to the folder itself, or is no name that a file can have (too long, or with
    a null character in it).
    """
    root = folder.resolve()
    try:
        path = (root / written).resolve()
        os.lstat(path)
    except (ValueError, RuntimeError):
        return None
    except OSError as error:
        if error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
            return None
    return path if path != root and path.is_relative_to(root) else None


BLOCK = MB
_KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISREG, "a file"),
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class RegularFile:
    """A file of others, open for reading. Never waits for a writer, never reads a device, never more than its limit.

    Raises `Unreadable` for whatever is wrong, except that a file that is not there is a FileNotFoundError.
    """

    def __init__(self, path: Path, limit: ReadLimit) -> None:
        self.path = path
        self._limit = limit
        self._until = None if limit.seconds is None else time.monotonic() + limit.seconds
        self.descriptor = open_regular(path, limit.follow_links)
        self.size = os.fstat(self.descriptor).st_size
        if self.size > limit.most_bytes:
            os.close(self.descriptor)
            raise self._too_large()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self.descriptor)

    def read(self) -> bytes:
        return b"".join(self._pieces(lambda: os.read(self.descriptor, BLOCK)))

    def lines(self, most: int, start: int = 0) -> Iterator[bytes]:
        """Lines from `start` on, each with its end, none of more than `most` bytes; the last may have been cut
        short."""
        with open(self.descriptor, "rb", buffering=BLOCK, closefd=False) as file:
            file.seek(start)
            for number, line in enumerate(self._pieces(lambda: file.readline(most + 1)), 1):
                if len(line) > most:
                    raise Unreadable(f"{self.path}:{number}", f"is a line of more than {most // MB} MB")
                yield line

    def part(self, start: int, end: int) -> bytes:
        """Return the bytes from `start` to `end`, fewer where the file ends before."""
        wanted = max(0, min(end, self.size) - start)
        if wanted > self._limit.most_bytes:
            raise self._too_large()
        try:
            return os.pread(self.descriptor, wanted, start)
        except OSError as error:
            raise Unreadable(self.path, f"cannot be read: {error.strerror}") from None

    def tail(self, most: int) -> bytes:
        """The last bytes, at most so many."""
        start = max(0, self.size - most)
        try:
            return os.pread(self.descriptor, min(most, self.size), start)
        except OSError as error:
            raise Unreadable(self.path, f"cannot be read: {error.strerror}") from None

    def _pieces(self, piece: Callable[[], bytes]) -> Iterator[bytes]:
        """The limit holds for what is read, not for what the file said its size was: it may grow."""
        left = self._limit.most_bytes
        while True:
            if self._until is not None and time.monotonic() > self._until:
                raise Unreadable(self.path, f"took longer to read than {self._limit.seconds:g} s")
            try:
                read = piece()
            except OSError as error:
                raise Unreadable(self.path, f"cannot be read: {error.strerror}") from None
            if not read:
                return
            left -= len(read)
            if left < 0:
                raise self._too_large()
            yield read

    def _too_large(self) -> Unreadable:
        return Unreadable(self.path, f"is larger than {self._limit.size}")


def read_bytes(path: Path, limit: ReadLimit) -> bytes:
    with RegularFile(path, limit) as file:
        return file.read()


def open_regular(path: Path, follow_links: bool = False) -> int:
    """Return a descriptor for reading; raise `Unreadable` for what is not a regular file. Never waits."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    try:
        descriptor = os.open(path, flags if follow_links else flags | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path)) from None
    except OSError as error:
        if not follow_links and path.is_symlink():
            raise Unreadable(path, "is a symbolic link, not a regular file") from None
        kind = "is a socket, not a regular file" if error.errno == errno.ENXIO else None
        raise Unreadable(path, kind or f"cannot be read: {error.strerror}") from None
    except ValueError:
        raise Unreadable(repr(str(path)), "is not a path: it has a null character") from None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise Unreadable(path, f"is {_kind(mode)}, not a regular file")
    return descriptor


def check_own_folders(folder: Path, names: tuple[str, ...]) -> None:
    """Raise `Unreadable` where a folder that belongs inside `folder` is a link or no folder; it may be missing."""
    for path in (folder / name for name in names):
        try:
            mode = os.lstat(path).st_mode
        except FileNotFoundError:
            continue
        if not stat.S_ISDIR(mode):
            raise Unreadable(path, f"is {_kind(mode)}, not a folder")


def check_database(path: Path) -> None:
    """Raise `Unreadable` where a SQLite file or a companion is not a regular file: SQLite would wait, or follow it."""
    for suffix in ("", "-journal", "-wal", "-shm"):
        file = path.with_name(path.name + suffix)
        try:
            mode = os.lstat(file).st_mode
        except (FileNotFoundError, NotADirectoryError):
            continue
        if not stat.S_ISREG(mode):
            raise Unreadable(file, f"is {_kind(mode)}, not a regular file")


def _kind(mode: int) -> str:
    return next((name for holds, name in _KINDS if holds(mode)), "something else")


def read_text(path: Path, limit: ReadLimit) -> str:
    """Reads a file as UTF-8; what is not becomes U+FFFD."""
    return read_bytes(path, limit).decode("utf-8", "replace")


def last_lines(path: Path, limit: ReadLimit, most: int) -> list[str]:
    """The end of a file, at most so many bytes of it, without reading the rest.

    A line cut at the front is left out, unless there is no other.
    """
    with RegularFile(path, limit) as file:
        lines = file.tail(most).decode("utf-8", "replace").splitlines()
        return lines[1:] if file.size > most and len(lines) > 1 else lines


def storable(text: str) -> str:
    """Without halves of surrogate pairs, which no UTF-8 file can hold."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
