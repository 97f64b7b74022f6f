from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Collected:
    commits_removed: int
    tensors_removed: int
    packs_before: int
    packs_after: int
    bytes_before: int
    bytes_after: int

    @property
    def bytes_freed(self) -> int:
        return self.bytes_before - self.bytes_after
