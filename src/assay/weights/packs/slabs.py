from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np

from assay.weights.store import Tensor

SLAB = 32 << 20
_LARGE = 4 << 20
"""numpy itself asks for huge pages from here on."""
_HUGE = 2 << 20
_ALIGNMENT = 64


class Slabs:
    """Memory for the tensors of one checkout: the small ones side by side in few large pieces.

    Large pieces are backed by huge pages where the system has them, and touching fresh small pages would take as long
    as decoding. A tensor that is kept keeps its piece, which is never more than 32 MB.
    """

    def __init__(self, largest: int) -> None:
        """No piece is larger than that, or than its tensor."""
        self._largest = min(largest, SLAB)
        self._slab = np.empty(0, np.uint8)
        self._used = 0
        self._lock = Lock()

    def take(self, count: int, dtype: np.dtype[Any]) -> Tensor:
        nbytes = count * dtype.itemsize
        if nbytes >= _LARGE:
            return _piece(nbytes).view(dtype)
        with self._lock:
            if self._used + nbytes > self._slab.size:
                self._slab = _piece(max(nbytes, self._largest))
                self._used = 0
            taken = self._slab[self._used : self._used + nbytes]
            self._used += nbytes + -nbytes % _ALIGNMENT
        return taken.view(dtype)


def _piece(nbytes: int) -> Tensor:
    """A large one begins and ends in huge pages: memory beside it that is never touched is never given."""
    if nbytes < _LARGE:
        return np.empty(nbytes, np.uint8)
    room = np.empty(nbytes + 2 * _HUGE, np.uint8)
    start = -room.ctypes.data % _HUGE
    return room[start : start + nbytes]
