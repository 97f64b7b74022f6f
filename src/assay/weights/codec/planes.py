"""Byte planes: the bytes of equal weight of all elements together, each coded if that pays and kept as it is if not.

For 64 bits, and for elements whose low bytes are not noise. Without a base floats are rotated left by one bit first,
so that the exponent fills a byte of its own and the sign lies with the noise.
"""

from __future__ import annotations

import math
import struct
from functools import cache

import numba as nb
import numpy as np
from numba import njit, types

from assay.errors import DataError
from assay.weights.codec.sample_cost import plane_cost
from assay.weights.codec.stream_reader import decode_stream
from assay.weights.codec.stream_writer import encode_symbols, room_for
from assay.weights.codec.symbols import Window, scratch
from assay.weights.codec.vector_operations import LEADING, TOKENS
from assay.weights.element_types import ELEMENT_TYPES, ElementType
from assay.weights.store import Tensor

# Elements without a base: the first byte of each coded, the others kept as they are, since they are noise.
#
# Floats are rotated left by one bit first, so that the exponent leads and the sign lies with the noise.

WIDTHS = (16, 32)
_LEADING_IN = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=True) for bits in (8, 16, 32)}
_LEADING_OUT = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C") for bits in (8, 16, 32)}
_ALONE = Window(0, 1)


def encode_leading(bits: Tensor, kind: ElementType) -> Tensor:
    """Bytes, good until this thread codes the next stream: the stream, then the other bytes by planes."""
    planes = kind.bits // 8 - 1
    symbols = scratch("symbols", bits.size, np.uint16)
    _first_bytes(bits, int(kind.exponent > 0), symbols)
    room = room_for(bits.size, planes)
    _other_bytes(bits, int(kind.exponent > 0), room[room.size - planes * bits.size :])
    return encode_symbols(symbols, bits, _ALONE, LEADING, planes, room)


@njit([types.void(_LEADING_IN[b], types.int64, _LEADING_OUT[16]) for b in WIDTHS], nogil=True, cache=True)
def _first_bytes(bits, rotated, symbols):  # type: ignore[no-untyped-def]
    width = nb.uint32(bits.itemsize * 8)
    skipped = nb.uint32(1 if rotated else 0)
    for i in range(bits.shape[0]):
        symbols[i] = nb.uint16((nb.uint32(bits[i]) >> (width - nb.uint32(8) - skipped)) & nb.uint32(0xFF))


@njit([types.void(_LEADING_IN[b], types.int64, _LEADING_OUT[8]) for b in WIDTHS], nogil=True, cache=True)
def _other_bytes(bits, rotated, out):  # type: ignore[no-untyped-def]
    size = bits.shape[0]
    last = nb.uint32(bits.itemsize * 8 - 1)
    for plane in range(bits.itemsize - 1):
        shift = nb.uint32(8 * plane)
        part = out[plane * size : (plane + 1) * size]
        for i in range(size):
            value = nb.uint32(bits[i])
            turned = (value << nb.uint32(1)) | (value >> last) if rotated else value
            part[i] = nb.uint8(turned >> shift)


_READ = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=True) for bits in (8, 16, 32, 64)}
_WRITE = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C") for bits in (8, 16, 32, 64)}
_WORTH_CODING = 7.9
"""Bits per byte above which coding a plane saves less than it costs to read."""
_LENGTH = struct.Struct("<I")
_BYTE = ELEMENT_TYPES["uint8"]


@njit(
    [types.void(_READ[b], types.int64, types.int64, types.int64, _WRITE[8]) for b in (8, 16, 32, 64)],
    nogil=True,
    cache=True,
)
def _split(values, width, rotate, shift, plane):  # type: ignore[no-untyped-def]
    left, right, at = nb.uint64(rotate), nb.uint64(width - 1), nb.uint64(shift)
    for i in range(values.shape[0]):
        value = nb.uint64(values[i])
        turned = (value << left) | (value >> right) if rotate else value
        plane[i] = nb.uint8(turned >> at)


@njit(types.void(_READ[8], _READ[8], types.int64, _WRITE[16]), nogil=True, cache=True)
def _merge_16(low, high, rotate, out):  # type: ignore[no-untyped-def]
    right, left = nb.uint32(rotate), nb.uint32(15)
    for i in range(out.shape[0]):
        value = nb.uint32(low[i]) | (nb.uint32(high[i]) << nb.uint32(8))
        out[i] = nb.uint16((value >> right) | (value << left)) if rotate else nb.uint16(value)


@njit(types.void(_READ[8], _READ[8], _READ[8], _READ[8], types.int64, _WRITE[32]), nogil=True, cache=True)
def _merge_32(a, b, c, d, rotate, out):  # type: ignore[no-untyped-def]
    right, left = nb.uint32(rotate), nb.uint32(31)
    for i in range(out.shape[0]):
        value = nb.uint32(a[i]) | nb.uint32(b[i]) << nb.uint32(8)
        value |= (nb.uint32(c[i]) << nb.uint32(16)) | (nb.uint32(d[i]) << nb.uint32(24))
        out[i] = nb.uint32((value >> right) | (value << left)) if rotate else nb.uint32(value)


def low_planes_are_noise(bits: Tensor, rotate: bool) -> bool:
    """Whether all planes but the highest are noise, judged on a sample."""
    sample = np.ascontiguousarray(bits[:: max(1, bits.size // 8192)])
    plane = np.empty(sample.size, np.uint8)
    width = 8 * bits.dtype.itemsize
    for shift in range(0, width - 8, 8):
        _split(sample, width, int(rotate), shift, plane)
        if plane_cost(plane) < _cost_of_noise(plane.size) - (8 - _WORTH_CODING):
            return False
    return True


@cache
def _cost_of_noise(size: int) -> float:
    """Bits per byte that so many random bytes seem to have: a few cannot show all 256 values equally often.

    How often each value comes up is close to a Poisson variable.
    """
    mean = size / 256
    times = np.arange(1, int(mean + 10 * mean**0.5) + 20)
    log_chance = times * math.log(mean) - mean - np.cumsum(np.log(times))
    return math.log2(size) - float((256 / size * np.exp(log_chance) * times * np.log2(times)).sum())


def encode_planes(values: Tensor, rotate: bool) -> bytes:
    """Per plane a length (0: kept as it is), then the planes, each padded to 4 bytes."""
    width = values.dtype.itemsize
    parts: list[bytes | memoryview] = []
    heads = []
    for number in range(width):
        plane = np.empty(values.size, np.uint8)
        _split(values, 8 * width, int(rotate), 8 * number, plane)
        coded = b""
        if plane_cost(plane) < _WORTH_CODING:
            room = room_for(plane.size, 0)
            coded = encode_symbols(plane.astype(np.uint16), plane, Window(0, 1), TOKENS, 0, room).tobytes()
        if coded and len(coded) < plane.size:
            heads.append(_LENGTH.pack(len(coded)))
            parts.append(coded)
        else:
            heads.append(_LENGTH.pack(0))
            parts.append(plane.data)
            parts.append(bytes(-plane.size % 4))
    return b"".join((*heads, *parts))


def decode_planes(data: memoryview, rotate: bool, out: Tensor) -> None:
    width = out.dtype.itemsize
    place = _LENGTH.size * width
    if place > len(data):
        raise DataError("byte planes end before their header")
    planes = []
    for number in range(width):
        (length,) = _LENGTH.unpack_from(data, _LENGTH.size * number)
        taken = length or out.size + -out.size % 4
        if place + taken > len(data):
            raise DataError("byte planes end too early")
        if length:
            plane = np.zeros(out.size, np.uint8)
            decode_stream(data[place : place + length], plane, _BYTE, True, plane)
            planes.append(plane)
        else:
            planes.append(np.frombuffer(data, np.uint8, out.size, place))
        place += taken
    if place != len(data):
        raise DataError("byte planes have bytes left over")
    _merge(planes, rotate, out)


def _merge(planes: list[Tensor], rotate: bool, out: Tensor) -> None:
    if len(planes) == 2:
        _merge_16(*planes, int(rotate), out)
    elif len(planes) == 4:
        _merge_32(*planes, int(rotate), out)
    else:
        value = out if not rotate else np.empty_like(out)
        bytes_of = value.view(np.uint8).reshape(out.size, len(planes))
        for number, plane in enumerate(planes):
            bytes_of[:, number] = plane
        if rotate:
            width = out.dtype.itemsize * 8
            out[:] = (value >> out.dtype.type(1)) | (value << out.dtype.type(width - 1))
