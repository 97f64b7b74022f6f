"""Memory that coding needs for a moment, kept from chunk to chunk: touching fresh pages would cost more than coding."""

from __future__ import annotations

import threading

import numpy as np

from assay.weights.store import Tensor


class _Scratch(threading.local):
    def __init__(self) -> None:
        self._held: dict[str, Tensor] = {}

    def bytes_of(self, purpose: str, size: int) -> Tensor:
        """At least `size` bytes, one piece a purpose and thread. What was in it before is still there."""
        held = self._held.get(purpose)
        if held is None or held.size < size:
            held = self._held[purpose] = np.empty(size, np.uint8)
        return held[:size]


_scratch = _Scratch()


def scratch(purpose: str, count: int, dtype: type[np.generic] | np.dtype[np.generic]) -> Tensor:
    kind = np.dtype(dtype)
    return _scratch.bytes_of(purpose, count * kind.itemsize).view(kind)
