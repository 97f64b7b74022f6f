from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from assay.weights.dtype import ELEMENT_TYPES


class TensorEntry(NamedTuple):
    """A tensor of a version: what it is called, what it is, and the hash of its content."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    digest: str

    @property
    def size(self) -> int:
        product = 1
        for length in self.shape:
            product *= length
        return product

    @property
    def nbytes(self) -> int:
        return self.size * ELEMENT_TYPES[self.dtype].itemsize


@dataclass(frozen=True)
class Commit:
    id: str
    parents: tuple[str, ...]
    message: str
    branch: str
    created_at: float
    """Seconds since 1970, UTC."""
    entries: tuple[TensorEntry, ...]
    """Sorted by name."""


@dataclass(frozen=True)
class Diff:
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]


def diff_of(before: Commit, after: Commit) -> Diff:
    left = {entry.name: entry for entry in before.entries}
    right = {entry.name: entry for entry in after.entries}
    both = sorted(left.keys() & right.keys())
    return Diff(
        added=tuple(sorted(right.keys() - left.keys())),
        removed=tuple(sorted(left.keys() - right.keys())),
        changed=tuple(name for name in both if left[name] != right[name]),
        unchanged=tuple(name for name in both if left[name] == right[name]),
    )
