from __future__ import annotations

import errno
import os
from pathlib import Path


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
