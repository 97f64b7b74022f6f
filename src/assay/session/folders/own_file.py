from __future__ import annotations

import os
import stat
from pathlib import Path

_MOST = 1000


def make_way(path: Path) -> Path | None:
    """Moves aside what a program has put in the place of a file of the session's: a directory, a link, a FIFO.

    Returns where it is now, or None where there was nothing to move.
    """
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return None
    return None if stat.S_ISREG(mode) else _move_aside(path)


def make_way_for_folder(folder: Path, root: Path) -> None:
    """The same for a folder and those above it, up to `root`: nothing is written through a link."""
    for path in (*reversed(folder.relative_to(root).parents[:-1]), folder.relative_to(root)):
        place = root / path
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            _move_aside(place)


def _move_aside(path: Path) -> Path | None:
    for number in range(1, _MOST):
        aside = path.with_name(f"{path.name}.foreign-{number}")
        if not os.path.lexists(aside):
            path.rename(aside)
            return aside
    return None
