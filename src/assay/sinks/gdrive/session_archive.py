from __future__ import annotations

import os
import tarfile
from pathlib import Path

from assay.untrusted.writing import open_new, temporary_name

# What is of no use elsewhere: our own queue, and what entries used while they ran.
_LEFT_OUT = frozenset({"outbox", "scratch", "ray_cluster"})


def write_archive(folder: Path, to: Path) -> None:
    """The session's folder as one file, whole or not there. Links are kept as links, never followed out of it."""
    temporary = temporary_name(to)
    try:
        with open_new(temporary, "wb") as written:
            with tarfile.open(fileobj=written, mode="w:gz", compresslevel=6) as archive:
                archive.add(folder, arcname=folder.name, filter=_keep)
            os.fsync(written.fileno())
        temporary.replace(to)
    finally:
        temporary.unlink(missing_ok=True)


def _keep(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    inside = Path(member.name).parts[1:]
    return None if _LEFT_OUT & set(inside) or not (member.isfile() or member.isdir() or member.issym()) else member
