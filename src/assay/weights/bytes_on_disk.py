from __future__ import annotations

from pathlib import Path


def bytes_on_disk(folder: Path) -> int:
    """Bytes of every file in a store's folder, its index included: what a store takes, counted from outside."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
