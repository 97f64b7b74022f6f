"""Bodies in a file, made small: blocks in the LZ4 block format, each with its two lengths before it.

8 bytes   packed length of the block, then its length, both 32 bits, little-endian
...       the block; where both lengths are the same it is not packed
"""

from __future__ import annotations

import ctypes
import json
import struct
from collections.abc import Iterable, Sequence
from ctypes import c_char_p, c_int, c_size_t, c_void_p
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.errors import DataError
from assay.files.writing import open_new, write_atomic
from assay.loadgen.http.http_client import Fault
from assay.native.library import declare, library

_BLOCK = 1 << 20
_HEAD = struct.Struct("<II")
_MOST_RATIO = 255
"""Largest factor by which LZ4 can make anything smaller: a file that claims more is damaged."""


@cache
def _functions() -> ctypes.CDLL | None:
    loaded = library()
    if loaded is not None:
        signatures = {
            "pack_room": (c_size_t, (c_size_t,)),
            "pack_bytes": (c_size_t, (c_void_p, c_size_t, c_void_p)),
            "unpack_bytes": (c_int, (c_char_p, c_size_t, c_void_p, c_size_t)),
        }
        declare(loaded, signatures)
    return loaded


def write_bodies(path: Path, bodies: NDArray[np.uint8]) -> None:
    loaded = _functions()
    bodies = np.ascontiguousarray(bodies)
    room = np.empty(loaded.pack_room(_BLOCK) if loaded else 0, np.uint8)
    with open_new(path, "wb") as file:
        for start in range(0, len(bodies), _BLOCK):
            block = bodies[start : start + _BLOCK]
            packed = loaded.pack_bytes(block.ctypes.data, len(block), room.ctypes.data) if loaded else len(block)
            small = packed < len(block)
            file.write(_HEAD.pack(packed if small else len(block), len(block)))
            file.write((room[:packed] if small else block).data)


def read_bodies(path: Path) -> NDArray[np.uint8]:
    data = path.read_bytes()
    blocks = []
    at = 0
    while at < len(data):
        if len(data) - at < _HEAD.size:
            raise DataError(f"{path}: the file is damaged: it ends in the middle of a block")
        packed, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        if packed > len(data) - at or length > packed * _MOST_RATIO or packed > length:
            raise DataError(f"{path}: the file is damaged: a block is not as long as it says")
        blocks.append(_unpack(data[at : at + packed], length, path))
        at += packed
    return np.concatenate(blocks) if blocks else np.zeros(0, np.uint8)


def _unpack(packed: bytes, length: int, path: Path) -> NDArray[np.uint8]:
    if len(packed) == length:
        return np.frombuffer(packed, np.uint8)
    loaded = _functions()
    if loaded is None:
        block = np.frombuffer(unpack_plain(packed), np.uint8)
        good = len(block) == length
    else:
        block = np.empty(length, np.uint8)
        good = bool(loaded.unpack_bytes(packed, len(packed), block.ctypes.data, length))
    if not good:
        raise DataError(f"{path}: the file is damaged: a block cannot be unpacked")
    return block


def unpack_plain(packed: bytes) -> bytes:
    """A block unpacked in Python; nothing where it is damaged."""
    made, at = bytearray(), 0
    try:
        while True:
            token, at = packed[at], at + 1
            literals, at = _length(packed, at, token >> 4)
            if at + literals > len(packed):
                return b""
            made += packed[at : at + literals]
            at += literals
            if at == len(packed):
                return bytes(made)
            distance = packed[at] | packed[at + 1] << 8
            match, at = _length(packed, at + 2, token & 15)
            if not 0 < distance <= len(made):
                return b""
            for _ in range(match + 4):
                made.append(made[-distance])
    except IndexError:
        return b""


def _length(packed: bytes, at: int, length: int) -> tuple[int, int]:
    if length == 15:
        while packed[at] == 255:
            length, at = length + 255, at + 1
        length, at = length + packed[at], at + 1
    return length, at


ROW = np.dtype(
    [
        ("intended_ns", "<i8"),
        ("sent_ns", "<i8"),
        ("first_byte_ns", "<i8"),
        ("end_ns", "<i8"),
        ("piece_start", "<i8"),
        ("body_start", "<i8"),
        ("body_bytes", "<i8"),
        ("pieces", "<i4"),
        ("connection", "<i4"),
        ("message", "<i4"),
        ("status", "<i2"),
        ("fault", "u1"),
        ("attempts", "u1"),
        ("event_stream", "u1"),
        ("state", "u1"),
        ("spare", "<i2"),
        ("spare2", "<i4"),
    ]
)
"""One request. Times are CLOCK_MONOTONIC; 0 where a thing did not happen. `struct row` in c/http/engine.h is the same.

intended_ns     when it should have been sent; in a closed loop, when its slot became free
sent_ns         just before its first byte was given to the kernel (of the first attempt)
first_byte_ns   arrival of the first byte of the answer
end_ns          arrival of the last byte of the answer, or when the fault was seen
piece_start     number of its first piece; `pieces` follow each other
body_start      where its body begins in `bodies`
connection      number of the connection, counted from 0 in the order they were made; -1: none
message         number of the message sent
attempts        1, or more where a kept-alive connection was found closed and the request was sent again
event_stream    1: the content type of the answer is text/event-stream
state           0 not due yet, 1 due, 2 in flight, 3 ended
"""
NEW, DUE, IN_FLIGHT, ENDED = range(4)

PIECE = np.dtype([("ns", "<i8"), ("body_end", "<i8")])
"""One receipt that brought bytes of a body: when, and how long the body was then."""


@dataclass(frozen=True)
class Exchange:
    """One request and its answer. `row` is of type ROW."""

    row: np.void
    pieces: NDArray[np.void]
    body: bytes

    @property
    def fault(self) -> Fault:
        return Fault(self.row["fault"])

    @property
    def status(self) -> int:
        return int(self.row["status"])


@dataclass(frozen=True)
class Exchanges(Sequence[Exchange]):
    """Everything that a client measured: one row a request, arrival times of pieces, bodies back to back."""

    rows: NDArray[np.void]
    pieces: NDArray[np.void]
    bodies: NDArray[np.uint8]
    start_ns: int
    """CLOCK_MONOTONIC at which the schedule began; intended times are this and the times of the plan."""
    client: str
    """Which client ran: `C` or `Python`, and why where it was not the faster one."""
    cpu_s: float = 0.0
    """CPU time of the client while the run lasted, all its processes."""
    connections: int = 0
    """Connections made, those before the start included."""
    process: NDArray[np.int64] | None = None
    """The client process of each row, where there were several; not kept on disk."""
    notes: tuple[str, ...] = field(default=())
    """What a reader of the numbers must know, such as that the run ended at a limit."""

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: int) -> Exchange:  # type: ignore[override]
        row = self.rows[number]
        start, first = int(row["body_start"]), int(row["piece_start"])
        return Exchange(
            row=row,
            pieces=self.pieces[first : first + int(row["pieces"])],
            body=self.bodies[start : start + int(row["body_bytes"])].tobytes(),
        )

    def faults(self) -> dict[Fault, int]:
        """How many requests ended in which way; only those that occur, answered ones included."""
        counts = np.bincount(self.rows["fault"], minlength=len(Fault))
        return {fault: int(counts[fault]) for fault in Fault if counts[fault]}


# Exchanges on disk: a folder of plain numpy files, which `numpy.load` reads, and one JSON file.
#
# rows.npy     one row a request (exchanges.ROW)
# pieces.npy   one row a receipt of body bytes (exchanges.PIECE)
# bodies.npy   the bytes of all bodies, back to back; left out where only times are kept
# run.json     start_ns, client, cpu_s, connections, notes

_SEARCHED_AT_ONCE = 1 << 18
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
    blocks = range(0, len(bodies), _SEARCHED_AT_ONCE)
    return any(secret in bodies[at : at + _SEARCHED_AT_ONCE + len(secret) - 1].tobytes() for at in blocks)


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
