from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from assay.errors import DataError
from assay.weights.codec.codec_methods import RAW
from assay.weights.element_types import ElementType
from assay.weights.packs.pack_files import PackReader
from assay.weights.packs.tensor_record import TensorRecord
from assay.weights.store import Tensor

SLAB = 32 << 20
_LARGE = 4 << 20
"""numpy itself asks for huge pages from here on."""
_HUGE = 2 << 20
_ALIGNMENT = 64


class Slabs:
    """Memory for the tensors of one checkout: the small ones side by side in few large pieces.

    Large pieces are backed by huge pages where the system has them, and touching fresh small pages would take as long
    as decoding. A tensor that is kept keeps its piece, which is never more than 32 MB.
    """

    def __init__(self, largest: int) -> None:
        """No piece is larger than that, or than its tensor."""
        self._largest = min(largest, SLAB)
        self._slab = np.empty(0, np.uint8)
        self._used = 0
        self._lock = Lock()

    def take(self, count: int, dtype: np.dtype[Any]) -> Tensor:
        nbytes = count * dtype.itemsize
        if nbytes >= _LARGE:
            return _piece(nbytes).view(dtype)
        with self._lock:
            if self._used + nbytes > self._slab.size:
                self._slab = _piece(max(nbytes, self._largest))
                self._used = 0
            taken = self._slab[self._used : self._used + nbytes]
            self._used += nbytes + -nbytes % _ALIGNMENT
        return taken.view(dtype)


def _piece(nbytes: int) -> Tensor:
    """A large one begins and ends in huge pages: memory beside it that is never touched is never given."""
    if nbytes < _LARGE:
        return np.empty(nbytes, np.uint8)
    room = np.empty(nbytes + 2 * _HUGE, np.uint8)
    start = -room.ctypes.data % _HUGE
    return room[start : start + nbytes]


class ChunkCache:
    """Decoded chunks that are bases of others, the least recently used dropped first, never more than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: OrderedDict[tuple[bytes, int], Tensor] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()
        self._slabs = Slabs(limit // 8)

    def room(self, count: int, dtype: np.dtype[Any]) -> Tensor:
        """Memory for a chunk that is to be put here."""
        return self._slabs.take(count, dtype)

    @property
    def held_bytes(self) -> int:
        return self._bytes

    def get(self, digest: bytes, number: int) -> Tensor | None:
        if not self._held:
            return None
        with self._lock:
            found = self._held.get((digest, number))
            if found is not None:
                self._held.move_to_end((digest, number))
            return found

    def put(self, digest: bytes, number: int, bits: Tensor) -> None:
        if bits.nbytes > self._limit:
            return
        with self._lock:
            if (digest, number) in self._held:
                return
            self._held[digest, number] = bits
            self._bytes += bits.nbytes
            while self._bytes > self._limit:
                _, dropped = self._held.popitem(last=False)
                self._bytes -= dropped.nbytes

    def clear(self) -> None:
        with self._lock:
            self._held.clear()
            self._bytes = 0


class ChunkReading(NamedTuple):
    """A chunk that is to be decoded, with all that has to be found for it found.

    All chunks are found first and decoded after: finding is Python's work, and doing both in turn for every chunk would
    drive each out of the processor's caches by the other.
    """

    number: int
    links: list[tuple[PackReader, TensorRecord]]
    """The tensor, the one that it is a difference to, and so on."""
    base: Tensor | None
    """What the last of them is a difference to, if that is in memory."""
    out: Tensor

    def run(self) -> None:
        number, links, base, out = self
        if not links and base is not None:
            out[:] = base
        unchecked: list[tuple[PackReader, TensorRecord, memoryview]] = []
        for pack, record in reversed(links):
            place = record.chunks[number]
            stored = pack.read_unchecked(place)
            unchecked.append((pack, record, stored))
            if base is None and record is not links[0][1] and is_as_it_is(record, number):
                # The difference to it is undone from where it lies into the tensor.
                base = np.frombuffer(stored[: place.length], record.kind.bit_view)
                if base.flags.aligned:
                    continue
                base = None
            problem = None
            try:
                _decoder()(place.method, stored[: place.length], base, record.kind, out)
            except DataError as error:
                problem = f"{pack.path}: {name_chunk(record, number)}: {error}"
            self._check(unchecked)
            if problem:
                raise DataError(problem)
            base = out
        for pack, record in links:
            pack.release(record.chunks[number])

    def _check(self, unchecked: list[tuple[PackReader, TensorRecord, memoryview]]) -> None:
        """Compares checksums after decoding: the bytes are still in the processor's caches then, and decoding is safe
        because it believes nothing either."""
        while unchecked:
            pack, record, stored = unchecked.pop()
            pack.check(record.chunks[self.number], stored, lambda: name_chunk(record, self.number))  # noqa: B023


def is_as_it_is(record: TensorRecord, number: int) -> bool:
    place = record.chunks[number]
    return place.method == RAW and place.length == record.chunk_elements(number) * record.kind.bits // 8


def name_chunk(record: TensorRecord, number: int) -> str:
    return f"tensor {record.digest.hex()[:16]}…, chunk {number}"


@cache
def _decoder() -> Callable[[int, memoryview, Tensor | None, ElementType, Tensor], None]:
    """Loaded when first needed: a look at the log needs no compiled kernels."""
    from assay.weights.codec.chunk import decode_chunk

    return decode_chunk
