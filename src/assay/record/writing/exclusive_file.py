from __future__ import annotations

import errno
import os
from pathlib import Path

_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def create_exclusive(path: Path, text: str, writer: str) -> bool:
    """True if this call made the file: of several processes, on any host, one does. It is never seen half written.

    A hard link is what NFS makes atomically with its content. Its answer may get lost on the way: then the file's own
    count of links says whether it was made. Where there are no hard links, O_EXCL decides, and for a moment the file is
    empty. `writer` must be a name that no other process uses.
    """
    temporary = path.with_name(f".{path.name}.{writer}.tmp")
    try:
        with temporary.open("w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        try:
            os.link(temporary, path)
        except FileExistsError:
            return temporary.stat().st_nlink == 2
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            return _create(path, text)
        return True
    finally:
        temporary.unlink(missing_ok=True)


def _create(path: Path, text: str) -> bool:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    except FileExistsError:
        return False
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    return True
