from __future__ import annotations

from typing import Any

import numpy as np

from assay.pipeline.resources import Worker
from assay.pipeline.stage import Stage


class CacheThrash(Stage[Any, Any]):
    """Touches `touches` cache lines a call, in random order, of a working set meant to fill the shared cache."""

    name = "cache thrash"

    def __init__(self, working_set_mb: int = 32, touches: int = 100_000, seed: int = 0) -> None:
        if working_set_mb < 1 or touches < 1:
            raise ValueError("working_set_mb and touches must be at least 1")
        self.working_set_mb = working_set_mb
        self.touches = touches
        self.seed = seed
        self._at = 0

    def setup(self, worker: Worker) -> None:
        lines = self.working_set_mb * 1_000_000 // 64
        self._lines = np.ones((lines, 8), np.int64)
        self._order = np.random.default_rng(self.seed).integers(0, lines, max(self.touches * 4, lines))

    def process(self, data: Any) -> Any:
        touched = self._order[self._at : self._at + self.touches]
        self._lines[touched, 0] += 1
        self._at += self.touches
        if self._at + self.touches > len(self._order):
            self._at = 0
        return data

    def teardown(self) -> None:
        del self._lines, self._order
