"""A chunk: up to a million elements of a tensor as bytes, by one of a few methods, each exact to the bit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.errors import DataError
from assay.weights.codec import planes, short_stream
from assay.weights.codec.codec_methods import NEEDS_BASE, Method
from assay.weights.codec.lossy import decode_lossy, residuals_of, undo_residuals
from assay.weights.codec.planes import decode_planes, encode_leading, encode_planes, low_planes_are_noise
from assay.weights.codec.short_stream import decode_short, decode_sparse, encode_short, encode_sparse
from assay.weights.codec.stream_reader import decode_stream
from assay.weights.codec.stream_writer import choose_lengths, encode_difference, encode_fixed
from assay.weights.codec.symbols import window_of
from assay.weights.element_types import ElementType
from assay.weights.store import Tensor

_GLANCE = 4096
"""First elements of a chunk, compared before the rest: they tell almost every changed chunk from an unchanged one."""
_RAW, _LEADING, _DIFFERENCE = int(Method.RAW), int(Method.LEADING), int(Method.DIFFERENCE)
"""Methods of nearly all chunks as plain numbers: comparing these is quicker than making the enum."""
_IN_PLACE = frozenset({Method.SAME, Method.DIFFERENCE, Method.XOR, Method.SPARSE})


@dataclass(frozen=True)
class Chunk:
    method: Method
    data: memoryview
    """Good until this thread codes the next chunk, or the tensor changes."""


def encode_chunk(method: Method, bits: Tensor, base: Tensor | None, kind: ElementType, quick: bool = False) -> Chunk:
    """Codes `bits` by `method`; keeps them as they are if that would not be smaller. `base` has as many elements."""
    if method in NEEDS_BASE:
        if base is None:
            method = Method.PLANES
        elif np.array_equal(bits[:_GLANCE], base[:_GLANCE]) and np.array_equal(bits, base):
            return Chunk(Method.SAME, memoryview(b""))
    if method is Method.PLANES and kind.bits in planes.WIDTHS and low_planes_are_noise(bits, kind.exponent > 0):
        method = Method.LEADING
    data = _encode(method, bits, base, kind, quick)
    if len(data) >= bits.nbytes:
        return Chunk(Method.RAW, bits.view(np.uint8).data)
    return Chunk(method, data)


def _encode(method: Method, bits: Tensor, base: Tensor | None, kind: ElementType, quick: bool) -> memoryview:
    if method in (Method.RAW, Method.SAME):
        return bits.view(np.uint8).data
    if method is Method.SHORT:
        return encode_short(bits, kind).data
    if method is Method.LEADING:
        return encode_leading(bits, kind).data
    if method is Method.PLANES:
        return memoryview(encode_planes(bits, rotate=kind.exponent > 0))
    if method is Method.ZSTD:
        return memoryview(_compress(bits))
    assert base is not None
    if method in (Method.DIFFERENCE, Method.XOR):
        if quick and method is Method.DIFFERENCE:
            return _encode_quickly(bits, base, kind).data
        return encode_difference(bits, base, kind, window_of(base, kind), method is Method.XOR).data
    if method is Method.DIFFERENCE_PLANES:
        return memoryview(encode_planes(residuals_of(bits, base, xor=False), rotate=False))
    if method is Method.XOR_PLANES:
        return memoryview(encode_planes(residuals_of(bits, base, xor=True), rotate=False))
    return memoryview(encode_sparse(bits, base))


def _encode_quickly(bits: Tensor, base: Tensor, kind: ElementType) -> Tensor:
    """Codes a difference at fixed lengths where one bit more per element costs little, and by tokens otherwise."""
    window = window_of(base, kind)
    lengths = choose_lengths(bits, base, kind, window)
    if lengths is not None:
        return encode_fixed(bits, base, kind, window, lengths)
    return encode_difference(bits, base, kind, window, xor=False, quick=True)


def decode_chunk(method: int, data: memoryview, base: Tensor | None, kind: ElementType, out: Tensor) -> None:
    """`base` may be `out`."""
    if method == _RAW:
        _raw(data, out)
        return
    if method in NEEDS_BASE:
        if base is None:
            raise DataError("a difference has no base")
        if method == _DIFFERENCE:
            decode_stream(data, base, kind, False, out)
            return
        if base is out and method not in _IN_PLACE:
            base = out.copy()
    if method == _LEADING and kind.bits in planes.WIDTHS:
        decode_stream(data, None, kind, False, out)
    elif method == Method.SHORT and kind.bits == short_stream.WIDTH:
        decode_short(data, kind, out)
    elif method == Method.PLANES:
        decode_planes(data, kind.exponent > 0, out)
    elif method == Method.ZSTD:
        _decompress(data, out)
    elif base is not None and method == Method.SAME:
        if base is not out:
            out[:] = base
    elif base is not None and method == Method.XOR:
        decode_stream(data, base, kind, True, out)
    elif base is not None and method == Method.DIFFERENCE_PLANES:
        decode_planes(data, False, out)
        undo_residuals(out, base, xor=False)
    elif base is not None and method == Method.XOR_PLANES:
        decode_planes(data, False, out)
        undo_residuals(out, base, xor=True)
    elif base is not None and method == Method.SPARSE:
        decode_sparse(data, base, out)
    elif base is not None and method in (Method.LOSSY_INT8, Method.LOSSY_INT16):
        decode_lossy(method, data, base, kind, out)
    else:
        raise DataError(f"method {method} is not known; it may be from a newer version of Assay")


def _raw(data: memoryview, out: Tensor) -> None:
    if len(data) != out.nbytes:
        raise DataError(f"{len(data)} bytes where {out.nbytes} should be")
    out.view(np.uint8)[:] = np.frombuffer(data, np.uint8)


def _compress(bits: Tensor) -> bytes:
    from zstandard import ZstdCompressor

    compressed: bytes = ZstdCompressor(level=1).compress(bits.view(np.uint8).data)
    return compressed


def _decompress(data: memoryview, out: Tensor) -> None:
    from zstandard import ZstdDecompressor, ZstdError

    # Reads never more than is expected, whatever the frame claims.
    try:
        with ZstdDecompressor().stream_reader(data) as reader:
            read = reader.readinto(out.view(np.uint8).data) if out.nbytes else 0
            more = reader.read(1)
    except ZstdError as error:
        raise DataError(f"compressed bytes cannot be read: {error}") from None
    if read != out.nbytes or more:
        raise DataError("compressed bytes are not as long as they should be")
