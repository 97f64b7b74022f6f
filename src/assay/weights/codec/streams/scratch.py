"""Memory that coding needs for a moment, kept from chunk to chunk: touching fresh pages would cost more than coding."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from assay.weights.store import Tensor


class _Scratch(threading.local):
    def __init__(self) -> None:
        self.held: dict[tuple[str, Any], Tensor] = {}


_scratch = _Scratch()


def scratch(purpose: str, count: int, dtype: type[np.generic] | np.dtype[np.generic]) -> Tensor:
    """One piece a purpose, kind and thread. What was in it before is still there."""
    held = _scratch.held.get((purpose, dtype))
    if held is None or held.size < count:
        held = _scratch.held[purpose, dtype] = np.empty(count, dtype)
    return held[:count]
