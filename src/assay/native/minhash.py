"""MinHash signatures and band keys by the compiled core, `c/minhash/`; their idea: `stages/text/alike/minhash.py`."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING, Any

from assay.native.library import declare, library

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BINS = 256
_POINTER, _COUNT = ctypes.c_void_p, ctypes.c_int64


def signatures(
    data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], escaped: NDArray[np.uint8] | None
) -> NDArray[np.uint32] | None:
    """One row of BINS numbers a document; document i is data[starts[i]:ends[i]], inside a JSON string if `escaped[i]`.

    None where the library is missing.
    """
    import numpy as np

    if (held := _load()) is None:
        return None
    loaded, turns = held
    starts, ends = (np.ascontiguousarray(side, np.int64) for side in (starts, ends))
    if len(starts) and (starts.min() < 0 or ends.max() > len(data) or (starts > ends).any()):
        raise ValueError("a document lies outside of its block")
    flags = None if escaped is None else np.ascontiguousarray(escaped, np.uint8).ctypes.data
    rows = np.empty((len(starts), BINS), np.uint32)
    signed = loaded.assay_minhash_sign(
        data.ctypes.data, starts.ctypes.data, ends.ctypes.data, flags, len(starts), turns.ctypes.data, rows.ctypes.data
    )
    if signed != len(starts):
        raise MemoryError(f"no memory for the signature of a document, or a broken escape in it ({signed} were signed)")
    return rows


def band_keys(rows: NDArray[np.uint32], bands: int) -> NDArray[np.uint64] | None:
    """One row of `bands` keys a document; None where the library is missing."""
    import numpy as np

    if (held := _load()) is None:
        return None
    rows = np.ascontiguousarray(rows, np.uint32)
    keys = np.empty((len(rows), bands), np.uint64)
    held[0].assay_minhash_band_keys(rows.ctypes.data, len(rows), bands, keys.ctypes.data)
    return keys


@cache
def _load() -> tuple[ctypes.CDLL, NDArray[Any]] | None:
    """The library, and in which order empty bins try others."""
    import numpy as np

    if (loaded := library()) is None:
        return None
    declare(
        loaded,
        {
            "assay_minhash_turns": (None, (_POINTER,)),
            "assay_minhash_sign": (_COUNT, (_POINTER,) * 4 + (_COUNT,) + (_POINTER,) * 2),
            "assay_minhash_band_keys": (None, (_POINTER, _COUNT, _COUNT, _POINTER)),
        },
    )
    turns = np.empty((BINS, BINS), np.uint16)
    loaded.assay_minhash_turns(turns.ctypes.data)
    return loaded, turns
