"""Elements of 16 bits without a base, where reading must cost next to nothing: four bits for the first byte of each.

The first bytes of floats, rotated left by one bit so that the exponent leads, are nearly all among fifteen neighbours:
a code of four bits says how far below the highest of them. The sixteenth code is for all other elements, whose places
and first bytes follow at the end. A byte holds two codes, of an element and of the one half a chunk further, so that
nothing has to be shuffled.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numba as nb
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from assay.errors import DataError
from assay.weights.codec.symbols import scratch
from assay.weights.codec.vector_operations import I8, I64, POINTER, Elements
from assay.weights.element_types import ElementType
from assay.weights.store import Tensor

WIDTH = 16
_HEADER = struct.Struct("<BBHI")  # highest first byte, 0, 0, how many lie elsewhere
_OTHER = 15
_GLANCE, _LINE = 4096, 64
_GROUP_BYTES = ir.VectorType(I8, 32)
_ARGUMENTS = (*[types.uint64] * 3, *[types.int64] * 4)
_BITS, _BYTES, _PLACES = (types.Array(getattr(types, f"uint{width}"), 1, "C") for width in (16, 8, 32))
_READ_BITS, _READ_BYTES, _READ_PLACES = (
    types.Array(getattr(types, f"uint{width}"), 1, "C", readonly=True) for width in (16, 8, 32)
)


def cost_of(sample: Tensor, kind: ElementType) -> float:
    """Bits per element, estimated from a sample."""
    if not sample.size:
        return 0.0
    _, covered = _highest(sample, 1, int(kind.exponent > 0))
    return 12 + 40 * (1 - float(covered) / sample.size)


def encode_short(bits: Tensor, kind: ElementType) -> Tensor:
    """Header, codes, low bytes, places and first bytes of those that lie elsewhere; good until the next stream."""
    highest, _ = _highest(bits, max(1, bits.size // _GLANCE), int(kind.exponent > 0))
    half, start = (bits.size + 1) // 2, _HEADER.size
    body = start + half + bits.size
    room, places = scratch("stream", body + 5 * bits.size, np.uint8), scratch("places", bits.size, np.uint32)
    codes, low = room[start : start + half], room[start + half : body]
    _encode(bits, int(kind.exponent > 0), highest, codes, low)
    count = _find_others(codes, bits.size, places)
    _HEADER.pack_into(room.data, 0, highest, 0, 0, count)
    room[body : body + 4 * count] = places[:count].view(np.uint8)
    room[body + 4 * count : body + 5 * count] = _first_bytes(bits[places[:count]], kind)
    return room[: body + 5 * count]


def decode_short(data: memoryview, kind: ElementType, out: Tensor) -> None:
    half = (out.size + 1) // 2
    body = half + out.size
    if len(data) < _HEADER.size + body:
        raise DataError("short codes end before their elements do")
    highest, _, _, count = _HEADER.unpack_from(data)
    if len(data) != _HEADER.size + body + 5 * count:
        raise DataError("short codes are not as long as their header says")
    all_bytes = np.frombuffer(data, np.uint8, offset=_HEADER.size)
    low = all_bytes[half:body]
    _decode(all_bytes[:half], low, int(kind.exponent > 0), highest, out)
    if count:
        places = np.ascontiguousarray(all_bytes[body : body + 4 * count]).view(np.uint32)
        if int(places.max()) >= out.size:
            raise DataError("short codes point outside their tensor")
        _put_others(places, all_bytes[body + 4 * count :], low, int(kind.exponent > 0), out)


def _first_bytes(bits: Tensor, kind: ElementType) -> Tensor:
    return (bits >> np.uint16(7 if kind.exponent else 8)).astype(np.uint8)


@njit(types.UniTuple(types.int64, 2)(_READ_BITS, types.int64, types.int64), nogil=True, cache=True)
def _highest(bits, every, is_float):  # type: ignore[no-untyped-def]
    """The highest of the fifteen neighbouring first bytes that cover most elements, and how many; it looks at one
    element in `every`."""
    counts = np.zeros(256, np.int64)
    for i in range(0, bits.shape[0], every):
        counts[(bits[i] >> (7 if is_float else 8)) & 0xFF] += 1
    best, most, covered = 0, 0, 0
    for top in range(256):
        covered += counts[top] - (counts[top - _OTHER] if top >= _OTHER else 0)
        if covered > most:
            best, most = top, covered
    return best, most


def _read_lanes(_numba: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    """Builds the loop that reads: a group of codes is for two groups of elements, one here, one half a chunk
    further."""
    half = _Half(builder, *arguments)

    def group(at: Any) -> None:
        codes = half.bytes_at(half.codes, at)
        half.write_elements(builder.and_(codes, half.elements.constant(15)), at)
        half.write_elements(builder.lshr(codes, half.elements.constant(4)), builder.add(at, half.further))

    return half.groups(group)


def _write_lanes(_numba: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    half = _Half(builder, *arguments)

    def group(at: Any) -> None:
        here, there = half.read_elements(at), half.read_elements(builder.add(at, half.further))
        half.store_bytes(builder.or_(here, builder.shl(there, half.elements.constant(4))), half.codes, at)

    return half.groups(group)


class _Half:
    """Addresses of codes, low bytes and elements, and how they become one another, 32 at a time."""

    def __init__(self, builder: Any, bits: Any, codes: Any, low: Any, size: Any, further: Any, *how: Any) -> None:
        self.builder, self.elements = builder, Elements(builder, WIDTH)
        self.bits, self.codes, self.low = (builder.inttoptr(address, POINTER) for address in (bits, codes, low))
        self._size, self.further = size, further
        self._is_float = builder.icmp_unsigned("!=", self.elements.splat(how[0]), self.elements.constant(0))
        self._highest = self.elements.splat(how[1])

    def bytes_at(self, start: Any, at: Any) -> Any:
        place = self.builder.gep(start, [at], source_etype=I8)
        return self.builder.zext(self.builder.load(place, typ=_GROUP_BYTES, align=1), self.elements.kind)

    def store_bytes(self, value: Any, start: Any, at: Any) -> None:
        place = self.builder.gep(start, [at], source_etype=I8)
        self.builder.store(self.builder.trunc(value, _GROUP_BYTES), place, align=1)

    def write_elements(self, codes: Any, at: Any) -> None:
        builder, elements = self.builder, self.elements
        first = builder.shl(builder.sub(self._highest, codes), elements.constant(8))
        value = builder.or_(first, self.bytes_at(self.low, at))
        turned = builder.or_(builder.lshr(value, elements.constant(1)), builder.shl(value, elements.constant(15)))
        elements.store(builder.select(self._is_float, turned, value), self.bits, at)

    def read_elements(self, at: Any) -> Any:
        """Codes of a group of elements; their low bytes are stored on the way."""
        builder, elements = self.builder, self.elements
        value = elements.load(self.bits, at)
        turned = builder.or_(builder.shl(value, elements.constant(1)), builder.lshr(value, elements.constant(15)))
        value = builder.select(self._is_float, turned, value)
        self.store_bytes(value, self.low, at)
        below = builder.sub(self._highest, builder.lshr(value, elements.constant(8)))
        other = elements.constant(_OTHER)
        return builder.select(builder.icmp_unsigned("<", below, other), below, other)

    def groups(self, body: Callable[[Any], None]) -> Any:
        """Builds a loop of `body` over all whole groups; returns how many codes they are."""
        builder, lanes = self.builder, I64(self.elements.lanes)
        entry = builder.block
        block, done = builder.append_basic_block("short"), builder.append_basic_block("short_done")
        builder.cbranch(builder.icmp_signed("<=", lanes, self._size), block, done)
        builder.position_at_end(block)
        at = builder.phi(I64)
        at.add_incoming(I64(0), entry)
        body(at)
        following = builder.add(at, lanes)
        at.add_incoming(following, block)
        builder.cbranch(builder.icmp_signed("<=", builder.add(following, lanes), self._size), block, done)
        builder.position_at_end(done)
        result = builder.phi(I64)
        result.add_incoming(I64(0), entry)
        result.add_incoming(following, block)
        return result


@intrinsic
def _read(typing, bits, codes, low, size, further, is_float, highest):  # type: ignore[no-untyped-def]
    return types.int64(*_ARGUMENTS), _read_lanes


@intrinsic
def _write(typing, bits, codes, low, size, further, is_float, highest):  # type: ignore[no-untyped-def]
    return types.int64(*_ARGUMENTS), _write_lanes


@njit(types.void(_READ_BITS, types.int64, types.int64, _BYTES, _BYTES), nogil=True, cache=True)
def _encode(bits, is_float, highest, codes, low):  # type: ignore[no-untyped-def]
    half, both = codes.shape[0], bits.shape[0] - codes.shape[0]
    done = _write(bits.ctypes.data, codes.ctypes.data, low.ctypes.data, both, half, is_float, highest)
    codes[done:] = 0
    for part in range(2):
        for i in range(part * half + done, half + part * both):
            value = nb.uint32(bits[i])
            turned = (value << nb.uint32(1)) | (value >> nb.uint32(15)) if is_float else value
            low[i] = nb.uint8(turned)
            below = highest - nb.int64((turned >> nb.uint32(8)) & nb.uint32(0xFF))
            code = below if 0 <= below < _OTHER else _OTHER
            codes[i - part * half] |= nb.uint8(code << (4 * part))


@njit(types.void(_READ_BYTES, _READ_BYTES, types.int64, types.int64, _BITS), nogil=True, cache=True)
def _decode(codes, low, is_float, highest, out):  # type: ignore[no-untyped-def]
    half, both = codes.shape[0], out.shape[0] - codes.shape[0]
    done = _read(out.ctypes.data, codes.ctypes.data, low.ctypes.data, both, half, is_float, highest)
    for part in range(2):
        for i in range(part * half + done, half + part * both):
            code = (nb.int64(codes[i - part * half]) >> (4 * part)) & 15
            value = (nb.uint32((highest - code) & 0xFF) << nb.uint32(8)) | nb.uint32(low[i])
            out[i] = nb.uint16((value >> nb.uint32(1)) | (value << nb.uint32(15))) if is_float else nb.uint16(value)


@njit(types.int64(_READ_BYTES, types.int64, _PLACES), nogil=True, cache=True)
def _find_others(codes, size, places):  # type: ignore[no-untyped-def]
    """Fills in the places that have the sixteenth code; returns how many. It looks at a line of memory at a time."""
    half, count = codes.shape[0], 0
    whole = half // _LINE * _LINE
    eights = codes[:whole].view(np.uint64)
    for begin in range(0, half, _LINE):
        seen = nb.uint64(begin >= whole)
        if begin < whole:
            for number in range(begin // 8, begin // 8 + _LINE // 8):
                pairs = eights[number] & (eights[number] >> nb.uint64(1))
                seen |= pairs & (pairs >> nb.uint64(2)) & nb.uint64(0x1111111111111111)
        if not seen:
            continue
        for i in range(begin, min(begin + _LINE, half)):
            if codes[i] & 15 == _OTHER:
                places[count] = i
                count += 1
            if codes[i] >> 4 == _OTHER and half + i < size:
                places[count] = half + i
                count += 1
    return count


@njit(types.void(_READ_PLACES, _READ_BYTES, _READ_BYTES, types.int64, _BITS), nogil=True, cache=True)
def _put_others(places, first, low, is_float, out):  # type: ignore[no-untyped-def]
    for i in range(places.shape[0]):
        value = (nb.uint32(first[i]) << nb.uint32(8)) | nb.uint32(low[places[i]])
        out[places[i]] = nb.uint16((value >> nb.uint32(1)) | (value << nb.uint32(15))) if is_float else nb.uint16(value)


# The elements that differ from the base: distances between them and their XOR, by zstd.

_SPARSE_COUNT = struct.Struct("<I")
_READ = types.Array(types.uint8, 1, "C", readonly=True)
_WRITE = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C") for bits in (8, 16, 32, 64)}


def encode_sparse(bits: Tensor, base: Tensor) -> bytes:
    from zstandard import ZstdCompressor

    places = np.flatnonzero(bits != base)
    distances = np.diff(places, prepend=-1).astype(np.uint32)
    values = (bits[places] ^ base[places]).view(np.uint8).reshape(places.size, bits.dtype.itemsize)
    columns = b"".join((distances.view(np.uint8).reshape(-1, 4).T.tobytes(), values.T.tobytes()))
    return _SPARSE_COUNT.pack(places.size) + bytes(ZstdCompressor(level=3).compress(columns))


def decode_sparse(data: memoryview, base: Tensor, out: Tensor) -> None:
    """`base` may be `out`."""
    from zstandard import ZstdDecompressor, ZstdError

    if len(data) < _SPARSE_COUNT.size:
        raise DataError("a sparse difference ends before its header")
    (count,) = _SPARSE_COUNT.unpack_from(data)
    width = out.dtype.itemsize
    if count > out.size:
        raise DataError(f"a sparse difference claims {count} changes of {out.size} elements")
    try:
        columns = ZstdDecompressor().decompress(data[_SPARSE_COUNT.size :], max_output_size=count * (4 + width) or 1)
    except ZstdError as error:
        raise DataError(f"a sparse difference cannot be read: {error}") from None
    if len(columns) != count * (4 + width):
        raise DataError("a sparse difference is not as long as it should be")
    if base is not out:
        out[:] = base
    if count and not _apply(np.frombuffer(columns, np.uint8), count, out):
        raise DataError("a sparse difference points outside its tensor")


@njit([types.boolean(_READ, types.int64, _WRITE[bits]) for bits in _WRITE], nogil=True, cache=True)
def _apply(columns, count, out):  # type: ignore[no-untyped-def]
    """Puts the changes into `out`; False if a distance leads beyond it. `columns`: the distances by byte planes, then
    the values."""
    place = -1
    for i in range(count):
        distance = 0
        for byte in range(4):
            distance |= nb.int64(columns[byte * count + i]) << (8 * byte)
        place += distance
        if distance < 1 or place >= out.shape[0]:
            return False
        value = nb.uint64(0)
        for byte in range(out.itemsize):
            value |= nb.uint64(columns[(4 + byte) * count + i]) << nb.uint64(8 * byte)
        out[place] ^= value
    return True
