from __future__ import annotations

from typing import Any

import numpy as np

from assay.pipeline.resources import Worker
from assay.pipeline.stage import Stage


class MemoryBandwidth(Stage[Any, Any]):
    """Streams `megabytes` through memory a call, reading one array and writing another too big for any cache."""

    name = "memory bandwidth"

    def __init__(self, megabytes: int = 64, working_set_mb: int = 256) -> None:
        if megabytes < 1 or working_set_mb < 2:
            raise ValueError("megabytes must be at least 1 and working_set_mb at least 2")
        self.megabytes = megabytes
        self.working_set_mb = working_set_mb
        self._at = 0

    def setup(self, worker: Worker) -> None:
        half = self.working_set_mb * 1_000_000 // 16
        # Written to, so that the pages are real and not one page of zeros.
        self._source = np.ones(half, np.int64)
        self._target = np.ones(half, np.int64)

    def process(self, data: Any) -> Any:
        # A copy of n bytes reads n and writes n.
        left = self.megabytes * 1_000_000 // 16
        while left:
            run = min(left, len(self._source) - self._at)
            self._target[self._at : self._at + run] = self._source[self._at : self._at + run]
            self._at = (self._at + run) % len(self._source)
            left -= run
        return data

    def teardown(self) -> None:
        del self._source, self._target
