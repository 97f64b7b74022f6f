from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True)
class GpuWatchSpec:
    """GPUs that are sampled with the tree: columns of their own in `usage_csv`."""

    names: tuple[str, ...]
    """GPUs as CUDA_VISIBLE_DEVICES names them: a number, `GPU-…` or `MIG-…`."""
    library: Path
    """Folder that holds pynvml."""
    certain: bool
    """Whether these GPUs were given to the tree: they count even where none of its processes is seen on them."""

    @classmethod
    def find(cls, names: tuple[str, ...], certain: bool) -> Self | None:
        """None without a GPU or without the driver's library for Python."""
        found = importlib.util.find_spec("pynvml") if names else None
        if found is None or found.origin is None:
            return None
        return cls(names, Path(found.origin).parent, certain)
