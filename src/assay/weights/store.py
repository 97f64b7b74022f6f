from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

Tensor: TypeAlias = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class StoreStats:
    logical_bytes: int
    """Bytes of every tensor of every version, as they were given."""
    stored_bytes: int
    """Everything on disk that the store needs to give them back, its index included."""
    versions: int
    tensors: int
    """Named tensors over all versions, duplicates counted."""
    unique_tensors: int
    deltas: int
    """Unique tensors that are kept as a difference to another one."""
    dedup_hits: int
    """Named tensors that were already stored, bit for bit."""
    lossy_tensors: int = 0
    """Unique tensors kept by a lossy encoding that somebody asked for."""
    longest_chain: int = 0
    """The most differences that have to be undone to read a tensor."""

    @property
    def ratio(self) -> float:
        return self.logical_bytes / self.stored_bytes if self.stored_bytes else 1.0


@runtime_checkable
class WeightStore(Protocol):
    """What the suites measure: `Repository`, and other stores behind the same four calls.

    `save` stages one tensor; `commit` makes what is staged, together with `tensors`, one durable version and returns
    the name to `load` it by.
    """

    def save(self, name: str, tensor: Tensor) -> None: ...

    def load(self, ref: str, names: Iterable[str] | None = None) -> dict[str, Tensor]: ...

    def commit(self, tensors: Mapping[str, Tensor] | None = None, message: str = "") -> str: ...

    def stats(self) -> StoreStats: ...
