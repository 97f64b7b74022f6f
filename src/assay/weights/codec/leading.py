"""Elements without a base: the first byte of each coded, the others kept as they are, since they are noise.

Floats are rotated left by one bit first, so that the exponent leads and the sign lies with the noise.
"""

from __future__ import annotations

import numba as nb
import numpy as np
from numba import njit, types

from assay.weights.codec.lanes.coder_state import LEADING
from assay.weights.codec.streams.scratch import scratch
from assay.weights.codec.streams.stream_writer import encode_symbols, room_for
from assay.weights.codec.streams.window import Window
from assay.weights.dtype import ElementType
from assay.weights.store import Tensor

WIDTHS = (16, 32)
_READ = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=True) for bits in (8, 16, 32)}
_WRITE = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C") for bits in (8, 16, 32)}
_ALONE = Window(0, 1)


def encode_leading(bits: Tensor, kind: ElementType) -> Tensor:
    """Bytes, good until this thread codes the next stream: the stream, then the other bytes by planes."""
    planes = kind.bits // 8 - 1
    symbols = scratch("symbols", bits.size, np.uint16)
    _first_bytes(bits, int(kind.exponent > 0), symbols)
    room = room_for(bits.size, planes)
    _other_bytes(bits, int(kind.exponent > 0), room[room.size - planes * bits.size :])
    return encode_symbols(symbols, bits, _ALONE, LEADING, planes, room)


@njit([types.void(_READ[b], types.int64, _WRITE[16]) for b in WIDTHS], nogil=True, cache=True)
def _first_bytes(bits, rotated, symbols):  # type: ignore[no-untyped-def]
    width = nb.uint32(bits.itemsize * 8)
    skipped = nb.uint32(1 if rotated else 0)
    for i in range(bits.shape[0]):
        symbols[i] = nb.uint16((nb.uint32(bits[i]) >> (width - nb.uint32(8) - skipped)) & nb.uint32(0xFF))


@njit([types.void(_READ[b], types.int64, _WRITE[8]) for b in WIDTHS], nogil=True, cache=True)
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
