from __future__ import annotations

from pathlib import Path


def repository_of(folder: Path) -> Path:
    """The nearest folder upwards with `.git`; without one, the folder itself."""
    folder = folder.absolute()
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)
