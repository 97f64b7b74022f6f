from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any

import numpy as np

from assay.weights.packs.slabs import Slabs
from assay.weights.store import Tensor


class ChunkCache:
    """Decoded chunks that are bases of others, the least recently used dropped first, never more than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: OrderedDict[tuple[bytes, int], Tensor] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()
        self._slabs = Slabs(limit // 8)

    def room(self, count: int, dtype: np.dtype[Any]) -> Tensor:
        """Memory for a chunk that is to be put here."""
        return self._slabs.take(count, dtype)

    @property
    def held_bytes(self) -> int:
        return self._bytes

    def get(self, digest: bytes, number: int) -> Tensor | None:
        if not self._held:
            return None
        with self._lock:
            found = self._held.get((digest, number))
            if found is not None:
                self._held.move_to_end((digest, number))
            return found

    def put(self, digest: bytes, number: int, bits: Tensor) -> None:
        if bits.nbytes > self._limit:
            return
        with self._lock:
            if (digest, number) in self._held:
                return
            self._held[digest, number] = bits
            self._bytes += bits.nbytes
            while self._bytes > self._limit:
                _, dropped = self._held.popitem(last=False)
                self._bytes -= dropped.nbytes

    def clear(self) -> None:
        with self._lock:
            self._held.clear()
            self._bytes = 0
