"""The elements that differ from the base: distances between them and their XOR, by zstd."""

from __future__ import annotations

import struct

import numba as nb
import numpy as np
from numba import njit, types

from assay.errors import DataError
from assay.weights.store import Tensor

_HEADER = struct.Struct("<I")
_READ = types.Array(types.uint8, 1, "C", readonly=True)
_WRITE = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C") for bits in (8, 16, 32, 64)}


def encode_sparse(bits: Tensor, base: Tensor) -> bytes:
    from zstandard import ZstdCompressor

    places = np.flatnonzero(bits != base)
    distances = np.diff(places, prepend=-1).astype(np.uint32)
    values = (bits[places] ^ base[places]).view(np.uint8).reshape(places.size, bits.dtype.itemsize)
    columns = b"".join((distances.view(np.uint8).reshape(-1, 4).T.tobytes(), values.T.tobytes()))
    return _HEADER.pack(places.size) + bytes(ZstdCompressor(level=3).compress(columns))


def decode_sparse(data: memoryview, base: Tensor, out: Tensor) -> None:
    """`base` may be `out`."""
    from zstandard import ZstdDecompressor, ZstdError

    if len(data) < _HEADER.size:
        raise DataError("a sparse difference ends before its header")
    (count,) = _HEADER.unpack_from(data)
    width = out.dtype.itemsize
    if count > out.size:
        raise DataError(f"a sparse difference claims {count} changes of {out.size} elements")
    try:
        columns = ZstdDecompressor().decompress(data[_HEADER.size :], max_output_size=count * (4 + width) or 1)
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
