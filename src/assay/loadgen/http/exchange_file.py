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
from assay.loadgen.http.packed_bodies import read_bodies, write_bodies
from assay.untrusted.writing import write_atomic

_BLOCK = 1 << 18
_PLAIN = ("start_ns", "client", "cpu_s", "connections", "notes")


def mask(exchanges: Exchanges, secrets: Iterable[bytes]) -> Exchanges:
    """The same with stars in place of every secret: a server may repeat the API key that it refuses, in each chunk."""
    bodies = exchanges.bodies
    for secret in secrets:
        if _holds(bodies, secret):
            bodies = np.frombuffer(bodies.tobytes().replace(secret, b"*" * len(secret)), np.uint8)
    return replace(exchanges, bodies=bodies)


def _holds(bodies: NDArray[np.uint8], secret: bytes) -> bool:
    """Whether the bodies hold a secret. It looks block by block, each as long as a cache: a copy of all answers would
    cost more than reading them."""
    blocks = range(0, len(bodies), _BLOCK)
    return any(secret in bodies[at : at + _BLOCK + len(secret) - 1].tobytes() for at in blocks)


def save(exchanges: Exchanges, folder: Path, bodies: bool = True) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "rows.npy", exchanges.rows, allow_pickle=False)
    np.save(folder / "pieces.npy", exchanges.pieces, allow_pickle=False)
    if bodies:
        write_bodies(folder / "bodies.lz4", exchanges.bodies)
    plain = {name: getattr(exchanges, name) for name in _PLAIN}
    write_atomic(folder / "run.json", json.dumps(plain, indent=1) + "\n")


def load(folder: Path) -> Exchanges:
    """Exchanges that were saved. Bodies that were left out are empty."""
    try:
        rows = np.load(folder / "rows.npy", mmap_mode="r", allow_pickle=False)
        pieces = np.load(folder / "pieces.npy", mmap_mode="r", allow_pickle=False)
        packed = folder / "bodies.lz4"
        bodies = read_bodies(packed) if packed.exists() else np.zeros(0, np.uint8)
        plain = json.loads((folder / "run.json").read_text())
        given = {name: plain[name] for name in _PLAIN}
    except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
        raise DataError(f"{folder}: these are not saved exchanges: {error}") from None
    if rows.dtype != ROW or pieces.dtype != PIECE:
        raise DataError(f"{folder}: exchanges of another version of Assay: their columns are not the ones known here")
    return Exchanges(rows=rows, pieces=pieces, bodies=bodies, **{**given, "notes": tuple(given["notes"])})
