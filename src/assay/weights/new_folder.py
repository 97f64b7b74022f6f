from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree

from assay.errors import DataError, UsageError

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
