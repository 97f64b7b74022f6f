"""Creating files where others may have put something in their place: links, FIFOs, folders, devices.

Everything that Assay writes into a folder of results, a history or a repository is created here. A file is created
exclusively, so a link of its name is never followed; temporary names are random, so nobody can put a link there first;
and an existing file is opened without waiting, and written to only if it is a regular file.
"""

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

_NEW = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_KNOWN = os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_TRIES = 100
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def create(path: "str | Path", permissions: int = 0o644, flags: int = os.O_WRONLY) -> int:
    """Return a descriptor of a new, empty file; a file or link of that name is removed, never written through."""
    for _ in range(_TRIES):
        try:
            return os.open(path, flags | _NEW, permissions)
        except FileExistsError:
            try:
                os.unlink(path)
            except FileNotFoundError:
                pass
    raise FileExistsError(errno.EEXIST, "Somebody else creates this file again and again", str(path))


def open_new(path: "str | Path", mode: str = "w", **options: "Any") -> "Any":
    """Open a new file for writing, as `open` does, in place of whatever file or link has its name."""
    if "b" not in mode:
        options.setdefault("encoding", "utf-8")
    flags = os.O_RDWR if "+" in mode else os.O_WRONLY
    return open(path, mode, opener=lambda name, _: create(name, flags=flags), **options)


def open_existing(
    path: "str | Path", flags: int = os.O_RDWR, permissions: int = 0o644, *, follow_links: bool = False
) -> int:
    """Return a descriptor of a regular file, which is created if it is missing. `flags` may hold O_APPEND.

    Raise OSError where a FIFO or anything else but /dev/null has the name, or a link, unless `follow_links`: that is
    for a path that the user names.
    """
    descriptor = os.open(path, flags | (_KNOWN & ~os.O_NOFOLLOW if follow_links else _KNOWN), permissions)
    if str(path) != os.devnull and not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "Not a regular file", str(path))
    return descriptor


def open_append(path: "str | Path", mode: str = "a", **options: "Any") -> "Any":
    """Open a regular file for appending, as `open` does; it is created if it is missing."""
    if "b" not in mode:
        options.setdefault("encoding", "utf-8")
    flags = os.O_WRONLY | os.O_APPEND
    return open(path, mode, opener=lambda name, _: open_existing(name, flags), **options)


def temporary_name(path: "Path") -> "Path":
    """Return a name beside `path` that nobody can guess."""
    return path.with_name(f".{path.name[:200]}.{os.urandom(8).hex()}.tmp")


def write_atomic(path: "Path", content: str | bytes) -> None:
    """Replace a file: a reader sees the old one or the new one, never half of it; a failed write leaves the old one."""
    temporary = temporary_name(path)
    try:
        _write_new(temporary, content)
        os.replace(temporary, path)
    except BaseException:  # an interrupt too
        _unlink(temporary)
        raise


def create_exclusive(path: "Path", text: str) -> bool:
    """Create a file unless it is there; return whether this call made it.

    Of several processes, on any host, one succeeds, and the file is never seen half written. A hard link is what NFS
    makes atomically with its content. Its answer may get lost on the way: then the file's own count of links says
    whether it was made. Where there are no hard links, O_EXCL decides, and for a moment the file is empty.
    """
    temporary = temporary_name(path)
    try:
        _write_new(temporary, text)
        try:
            os.link(temporary, path)
        except FileExistsError:
            return os.lstat(temporary).st_nlink == 2
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            return _create_in_place(path, text)
        return True
    finally:
        _unlink(temporary)


def create_database(path: "str | Path", permissions: int = 0o644) -> None:
    """Create an empty file for SQLite, which would itself create one through a link.

    An existing file is left alone and never opened: to close it would drop the locks that SQLite holds on it in this
    process, and another process could then remove the log that is still being read.
    """
    try:
        os.close(os.open(path, os.O_WRONLY | _NEW, permissions))
    except FileExistsError:
        pass


def touch(path: "str | Path") -> None:
    """Set a regular file's time to now; it is created if it is missing."""
    descriptor = open_existing(path, os.O_WRONLY)
    try:
        os.utime(descriptor)
    finally:
        os.close(descriptor)


def _create_in_place(path: "Path", text: str) -> bool:
    try:
        _write_new(path, text)
    except FileExistsError:
        return False
    return True


def _write_new(path: "Path", content: str | bytes) -> None:
    with open(os.open(path, os.O_WRONLY | _NEW, 0o644), "wb") as out:
        out.write(content.encode() if isinstance(content, str) else content)
        out.flush()
        os.fsync(out.fileno())


def _unlink(path: "Path") -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
