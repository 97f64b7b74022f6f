from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from assay.errors import DataError, MissingExtra

TRIES = 3
PAUSE_S = 5.0
"""Seconds between tries of one file: servers of archives refuse now and then."""


def read_addresses(file: Path, limit: int | None = None) -> list[str]:
    """Addresses, one a line; blank lines and those with `#` in front are left out."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file}: cannot be read: {error}") from None
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")][:limit]


def file_name(address: str) -> str:
    """Name under which the file of an address is kept."""
    return address.rstrip("/").rsplit("/", 1)[-1]


def fetch(addresses: Sequence[str], folder: Path, tell: Callable[[str], object]) -> int:
    """Copies files into a folder, leaving out what is there already; returns how many were copied.

    A file is written aside and renamed, so that one that is there is whole. `tell` hears of each before it is copied.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made: {error}") from None
    missing = [address for address in addresses if not (folder / file_name(address)).exists()]
    for number, address in enumerate(missing, 1):
        tell(f"fetching {number} of {len(missing)}: {address}")
        _copy(address, folder / file_name(address))
    return len(missing)


def _copy(address: str, target: Path) -> None:
    try:
        import fsspec
    except ImportError:
        raise MissingExtra("fsspec", "pipeline") from None
    aside = target.with_name(f".{target.name}.part")
    for attempt in range(1, TRIES + 1):
        try:
            with fsspec.open(address, "rb") as source, aside.open("wb") as out:
                shutil.copyfileobj(source, out, 1 << 20)
            aside.replace(target)
            return
        except Exception as error:  # noqa: BLE001 - every protocol has errors of its own
            aside.unlink(missing_ok=True)
            if attempt == TRIES or isinstance(error, FileNotFoundError | ValueError | ImportError):
                why = " ".join(str(error).split()) or type(error).__name__
                raise DataError(f"{address}: cannot be fetched: {why}") from None
        time.sleep(PAUSE_S)
