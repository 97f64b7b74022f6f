"""The elements that differ from the base: distances between them and their XOR, by zstd."""

from __future__ import annotations

import struct

import numpy as np

from assay.errors import DataError
from assay.weights.store import Tensor

_HEADER = struct.Struct("<I")


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
    if not count:
        return
    raw = np.frombuffer(columns, np.uint8)
    distances = np.ascontiguousarray(raw[: 4 * count].reshape(4, count).T).view(np.uint32).reshape(-1)
    places = np.cumsum(distances, dtype=np.int64) - 1
    if int(distances.min()) < 1 or int(places[-1]) >= out.size:
        raise DataError("a sparse difference points outside its tensor")
    values = np.ascontiguousarray(raw[4 * count :].reshape(width, count).T).view(out.dtype).reshape(-1)
    out[places] ^= values
