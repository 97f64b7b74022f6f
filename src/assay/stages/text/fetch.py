from __future__ import annotations

import shutil
from pathlib import Path

from assay.errors import DataError, MissingExtra


def fetch(addresses: Path, folder: Path, limit: int | None = None) -> int:
    """Copies what a list names into a folder, leaving out what is there already; returns how many were copied.

    A file is written aside and renamed, so that one that is there is whole.
    """
    try:
        import fsspec
    except ImportError:
        raise MissingExtra("fsspec", "pipeline") from None
    try:
        lines = addresses.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise DataError(f"{addresses}: cannot be read: {error}") from None
    wanted = [line.strip() for line in lines if line.strip() and not line.startswith("#")][:limit]
    folder.mkdir(parents=True, exist_ok=True)
    copied = 0
    for address in wanted:
        target = folder / address.rstrip("/").rsplit("/", 1)[-1]
        if target.exists():
            continue
        aside = target.with_name(f".{target.name}.part")
        try:
            with fsspec.open(address, "rb") as source, aside.open("wb") as out:
                shutil.copyfileobj(source, out, 1 << 20)
        except (OSError, ValueError, ImportError) as error:
            aside.unlink(missing_ok=True)
            raise DataError(f"{addresses}: {address}: cannot be fetched: {error}") from None
        aside.replace(target)
        copied += 1
    return copied
