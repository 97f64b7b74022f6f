"""What the index of a pack says of a tensor, and its bytes. Everything read is checked before it is believed."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

from assay.errors import DataError
from assay.weights.codec.codec_methods import CHUNK_ELEMENTS, KNOWN_METHODS, SAME
from assay.weights.element_types import DIGEST_BYTES, ELEMENT_TYPES, ElementType

_CODES = tuple(ELEMENT_TYPES)
_KINDS = tuple(ELEMENT_TYPES.values())
_HEAD = struct.Struct(f"<{DIGEST_BYTES}sBBBBQQ")  # digest, dtype, flags, depth, dimensions, sketch, offset
_CHUNK = struct.Struct("<BIQ")
_HEAD_BYTES, _CHUNK_BYTES = _HEAD.size, _CHUNK.size
_HAS_BASE, _LOSSY = 1, 2
MOST_DIMENSIONS = 64
_SHAPES = tuple(struct.Struct(f"<{dimensions}Q") for dimensions in range(MOST_DIMENSIONS + 1))
LARGEST_CHUNK = 1 << 31
LARGEST_TENSOR = 1 << 58
"""Elements: with 16 bytes each, what an address can still count."""
_tuple = tuple.__new__
"""Constructor for named tuples that are made by the hundred: it skips the call of their Python-level one."""


class ChunkPlace(NamedTuple):
    offset: int
    length: int
    method: int
    checksum: int
    """xxh3 of the stored bytes, padding included."""

    @property
    def padded(self) -> int:
        return self.length + -self.length % 8


class TensorRecord(NamedTuple):
    """A tuple, because reading a version makes one of every tensor that it needs."""

    digest: bytes
    kind: ElementType
    shape: tuple[int, ...]
    base: bytes | None
    depth: int
    """How many differences have to be undone to read it."""
    lossy: bool
    sketch: int
    chunks: tuple[ChunkPlace, ...]
    elements: int
    """Number of lanes: a complex number counts twice."""

    @property
    def stored_bytes(self) -> int:
        return sum(chunk.padded for chunk in self.chunks)

    def chunk_elements(self, number: int) -> int:
        return min(CHUNK_ELEMENTS, self.elements - number * CHUNK_ELEMENTS)


def elements_of(kind: ElementType, shape: tuple[int, ...]) -> int:
    elements = kind.lanes
    for length in shape:
        elements *= length
    return elements


def is_storable(shape: Sequence[int]) -> bool:
    """Whether arrays can have such a shape; the lengths beside a zero count, too."""
    elements = 1
    for length in shape:
        elements *= length or 1
        if elements > LARGEST_TENSOR:
            return False
    return len(shape) <= MOST_DIMENSIONS


def chunk_count(elements: int) -> int:
    return -(-elements // CHUNK_ELEMENTS)


def pack_record(record: TensorRecord) -> bytes:
    flags = _HAS_BASE * (record.base is not None) | _LOSSY * record.lossy
    offset = record.chunks[0].offset if record.chunks else 0
    head = _HEAD.pack(
        record.digest, _CODES.index(record.kind.name), flags, record.depth, len(record.shape), record.sketch, offset
    )
    dimensions = struct.pack(f"<{len(record.shape)}Q", *record.shape)
    chunks = b"".join(_CHUNK.pack(chunk.method, chunk.length, chunk.checksum) for chunk in record.chunks)
    return b"".join((head, dimensions, record.base or b"", chunks))


def unpack_record(data: bytes, place: int, end_of_chunks: int) -> TensorRecord:
    """The record at `place` of an index. Its chunks must lie one after another before `end_of_chunks`."""
    try:
        return _unpack(data, place, end_of_chunks)
    except struct.error:
        raise DataError("the index ends inside a record") from None


def _unpack(data: bytes, place: int, end_of_chunks: int) -> TensorRecord:
    digest, code, flags, depth, dimensions, sketch, offset = _HEAD.unpack_from(data, place)
    place += _HEAD_BYTES
    if code >= len(_CODES) or flags > (_HAS_BASE | _LOSSY) or dimensions > MOST_DIMENSIONS:
        raise DataError(f"the index has a record that makes no sense (dtype {code}, {dimensions} dimensions)")
    kind = _KINDS[code]
    shape = _SHAPES[dimensions].unpack_from(data, place)
    place += 8 * dimensions
    base = None
    if flags & _HAS_BASE:
        base = data[place : place + DIGEST_BYTES]
        place += DIGEST_BYTES
        if len(base) != DIGEST_BYTES:
            raise DataError("the index ends inside a record")
    if not is_storable(shape):
        raise DataError(f"the index claims a tensor of shape {shape}, which no memory could hold")
    elements = elements_of(kind, shape)
    count = chunk_count(elements)
    if count * _CHUNK_BYTES > len(data) - place:
        raise DataError(f"the index claims a tensor of shape {shape}, but has not its chunks")
    chunks = []
    for start in range(place, place + count * _CHUNK_BYTES, _CHUNK_BYTES):
        method, length, checksum = _CHUNK.unpack_from(data, start)
        if method not in KNOWN_METHODS or length > LARGEST_CHUNK or (length == 0) != (method == SAME):
            raise DataError(f"the index has a chunk that makes no sense (method {method}, {length} bytes)")
        chunks.append(_tuple(ChunkPlace, (offset, length, method, checksum)))
        offset += length + -length % 8
    if offset > end_of_chunks:
        raise DataError(f"the index points beyond the end of the pack ({offset} > {end_of_chunks})")
    lossy = bool(flags & _LOSSY)
    return _tuple(TensorRecord, (digest, kind, shape, base, depth, lossy, sketch, tuple(chunks), elements))
