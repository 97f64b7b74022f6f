"""Differences rounded to 255 or 65535 steps. What comes back is near what was given, not the same: only on request.

The steps span the largest difference of the chunk, so nothing is clipped.
"""

from __future__ import annotations

import struct

import numpy as np

from assay.errors import DataError
from assay.weights.codec.codec_methods import Method
from assay.weights.element_types import ElementType
from assay.weights.store import Tensor

# Residuals as in `tokens`, of any width, for what is coded by planes.


def residuals_of(bits: Tensor, base: Tensor, xor: bool) -> Tensor:
    if xor:
        return bits ^ base
    signed = (bits - base).view(np.dtype(f"<i{bits.dtype.itemsize}"))
    return ((signed << 1) ^ (signed >> (bits.dtype.itemsize * 8 - 1))).view(bits.dtype)


def undo_residuals(out: Tensor, base: Tensor, xor: bool) -> None:
    """Turns residuals in `out` into bit patterns, in place."""
    if not xor:
        one = out.dtype.type(1)
        out[:] = base + ((out >> one) ^ (out.dtype.type(0) - (out & one)))
    else:
        out ^= base


_HEADER = struct.Struct("<d")
_STEPS = {Method.LOSSY_INT8: (np.int8, 127), Method.LOSSY_INT16: (np.int16, 32767)}


def encode_lossy(method: Method, bits: Tensor, base: Tensor, kind: ElementType) -> tuple[bytes, Tensor] | None:
    """The bytes, and the bit patterns that will come back; None where a value is not finite."""
    from zstandard import ZstdCompressor

    integer, most = _STEPS[method]
    values, bases = _values(bits, kind), _values(base, kind)
    with np.errstate(all="ignore"):
        difference = values - bases
        if not np.isfinite(difference).all():
            return None
        step = float(np.abs(difference).max(initial=0.0)) / most
        steps = np.round(difference / step).astype(integer) if step else np.zeros(bits.size, integer)
    planes = steps.view(np.uint8).reshape(steps.size, -1).T.tobytes()
    data = _HEADER.pack(step) + bytes(ZstdCompressor(level=3).compress(planes))
    return data, _restore(steps, step, bases, bits.dtype, kind)


def decode_lossy(method: int, data: memoryview, base: Tensor, kind: ElementType, out: Tensor) -> None:
    from zstandard import ZstdDecompressor, ZstdError

    integer, _ = _STEPS[Method(method)]
    width = np.dtype(integer).itemsize
    if len(data) < _HEADER.size or not kind.exponent:
        raise DataError("a rounded difference ends before its header")
    (step,) = _HEADER.unpack_from(data)
    try:
        planes = ZstdDecompressor().decompress(data[_HEADER.size :], max_output_size=out.size * width or 1)
    except ZstdError as error:
        raise DataError(f"a rounded difference cannot be read: {error}") from None
    if len(planes) != out.size * width:
        raise DataError("a rounded difference is not as long as it should be")
    steps = np.ascontiguousarray(np.frombuffer(planes, np.uint8).reshape(width, out.size).T).view(integer).reshape(-1)
    out[:] = _restore(steps, step, _values(base, kind), out.dtype, kind)


def _values(bits: Tensor, kind: ElementType) -> Tensor:
    lane = np.dtype(f"float{kind.bits}") if kind.lanes == 2 else kind.numpy
    return bits.view(lane).astype(np.float64)


def _restore(steps: Tensor, step: float, bases: Tensor, bits: np.dtype[np.generic], kind: ElementType) -> Tensor:
    lane = np.dtype(f"float{kind.bits}") if kind.lanes == 2 else kind.numpy
    with np.errstate(all="ignore"):
        return (bases + steps.astype(np.float64) * step).astype(lane).view(bits)
