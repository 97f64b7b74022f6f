"""MinHash signatures and band keys by the compiled core, `c/minhash/`; their idea: `stages/text/minhash.py`."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
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


# Pairs of documents that share a key, by the compiled core (`c/pairs/`); None from each function without it.


class _Part(ctypes.Structure):
    """`struct key_part` of key_part.h."""

    _fields_ = (
        ("keys", _POINTER),
        ("rows", _POINTER),
        ("starts", _POINTER),
        ("split", ctypes.c_uint64),
    )


def partition(
    keys: NDArray[np.uint64], buckets: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.int64]] | None:
    """Keys (a row a document) by bucket and within it by document, the row of each, and where each bucket starts."""
    import numpy as np

    if (loaded := _load_pair_library()) is None:
        return None
    keys = np.ascontiguousarray(keys, np.uint64)
    ordered, rows = np.empty(keys.size, np.uint64), np.empty(keys.size, np.uint32)
    starts = np.empty(buckets + 1, np.int64)
    if buckets != loaded.assay_pairs_buckets():
        raise ValueError(f"the library was built for {loaded.assay_pairs_buckets()} buckets, not {buckets}")
    done = loaded.assay_pairs_partition(
        keys.ctypes.data, *keys.shape, ordered.ctypes.data, rows.ctypes.data, starts.ctypes.data
    )
    if done < 0:
        raise ValueError(f"{len(keys)} documents of {keys.shape[1]} keys cannot be numbered")
    return ordered, rows, starts


def find_pairs(
    parts: Sequence[tuple[int, NDArray[Any], NDArray[Any], NDArray[Any]]], first: int, last: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]] | None:
    """Pairs of documents that share a key of buckets [first, last); a part is the split and what `partition` gave."""
    import numpy as np

    if (loaded := _load_pair_library()) is None:
        return None
    held = (_Part * max(len(parts), 1))()
    room = 0
    for at, (split, keys, rows, starts) in enumerate(parts):
        held[at] = _Part(keys.ctypes.data, rows.ctypes.data, starts.ctypes.data, split)
        room += 2 * int(starts[last] - starts[first])
    one, other = np.empty(room, np.uint64), np.empty(room, np.uint64)
    found = loaded.assay_pairs_shared(held, len(parts), first, last, one.ctypes.data, other.ctypes.data, room)
    if found < 0:
        raise MemoryError(f"no memory for the pairs of {room // 2} keys")
    return one[:found].copy(), other[:found].copy()


def confirm(
    proofs: Sequence[NDArray[Any] | None], first: NDArray[np.uint64], second: NDArray[np.uint64], least: int
) -> NDArray[np.bool_] | None:
    """Which pairs agree in at least `least` of the numbers of their proofs: an array a split, a row a document."""
    import numpy as np

    if (loaded := _load_pair_library()) is None:
        return None
    alike = np.zeros(len(first), np.bool_)
    width = next((proof.shape[1] for proof in proofs if proof is not None), 0)
    addresses = (_POINTER * max(len(proofs), 1))(*(None if proof is None else proof.ctypes.data for proof in proofs))
    first, second = (np.ascontiguousarray(side, np.uint64) for side in (first, second))
    loaded.assay_pairs_confirm(
        addresses, width, first.ctypes.data, second.ctypes.data, len(first), least, alike.ctypes.data
    )
    return alike


@cache
def _load_pair_library() -> ctypes.CDLL | None:
    if (loaded := library()) is not None:
        part, room = ctypes.POINTER(_Part), (_POINTER, _POINTER, _COUNT)
        declare(
            loaded,
            {
                "assay_pairs_buckets": (_COUNT, ()),
                "assay_pairs_partition": (
                    _COUNT,
                    (_POINTER, _COUNT, _COUNT, _POINTER, _POINTER, _POINTER),
                ),
                "assay_pairs_shared": (_COUNT, (part, _COUNT, _COUNT, _COUNT, *room)),
                "assay_pairs_confirm": (
                    _COUNT,
                    (_POINTER, _COUNT, *room, _COUNT, _POINTER),
                ),
            },
        )
    return loaded
