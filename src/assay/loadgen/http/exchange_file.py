"""Exchanges on disk: a folder of plain numpy files, which `numpy.load` reads, and one JSON file.

rows.npy     one row a request (exchanges.ROW)
pieces.npy   one row a receipt of body bytes (exchanges.PIECE)
bodies.npy   the bytes of all bodies, back to back; left out where only times are kept
run.json     start_ns, client, cpu_s, connections, notes
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.errors import DataError
from assay.loadgen.http.exchanges import PIECE, ROW, Exchanges

_MASK = ord("*")
_PLAIN = ("start_ns", "client", "cpu_s", "connections", "notes")


def mask(exchanges: Exchanges, secrets: Iterable[bytes]) -> Exchanges:
    """The same with stars in place of every secret: a server may repeat the API key that it refuses."""
    bodies = exchanges.bodies
    for secret in secrets:
        at = bytes_find(bodies, secret, 0)
        if at >= 0 and not bodies.flags.writeable:
            bodies = bodies.copy()
        while at >= 0:
            bodies[at : at + len(secret)] = _MASK
            at = bytes_find(bodies, secret, at + len(secret))
    return replace(exchanges, bodies=bodies)


def bytes_find(where: NDArray[np.uint8], what: bytes, start: int, step: int = 16 << 20) -> int:
    """Position of `what` from `start` on, or -1; looked at in steps, so that nothing large is copied."""
    while start < len(where):
        found = where[start : start + step + len(what) - 1].tobytes().find(what)
        if found >= 0:
            return start + found
        start += step
    return -1


def save(exchanges: Exchanges, folder: Path, bodies: bool = True) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "rows.npy", exchanges.rows, allow_pickle=False)
    np.save(folder / "pieces.npy", exchanges.pieces, allow_pickle=False)
    if bodies:
        np.save(folder / "bodies.npy", exchanges.bodies, allow_pickle=False)
    plain = {name: getattr(exchanges, name) for name in _PLAIN}
    (folder / "run.json").write_text(json.dumps(plain, indent=1) + "\n")


def load(folder: Path) -> Exchanges:
    """Exchanges that were saved. Bodies that were left out are empty."""
    try:
        rows = np.load(folder / "rows.npy", mmap_mode="r", allow_pickle=False)
        pieces = np.load(folder / "pieces.npy", mmap_mode="r", allow_pickle=False)
        kept = (folder / "bodies.npy").exists()
        bodies = np.load(folder / "bodies.npy", mmap_mode="r", allow_pickle=False) if kept else np.zeros(0, np.uint8)
        plain = json.loads((folder / "run.json").read_text())
        given = {name: plain[name] for name in _PLAIN}
    except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
        raise DataError(f"{folder}: these are not saved exchanges: {error}") from None
    if rows.dtype != ROW or pieces.dtype != PIECE or bodies.dtype != np.uint8:
        raise DataError(f"{folder}: exchanges of another version of Assay: their columns are not the ones known here")
    return Exchanges(rows=rows, pieces=pieces, bodies=bodies, **{**given, "notes": tuple(given["notes"])})
