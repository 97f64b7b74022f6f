from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from assay.pipeline.stage import StreamStage


class Stream(StreamStage[Any, Any]):
    """Yields what it was given `items` times: one wait before the first, as a prompt is read, and one between each."""

    name = "stream"

    def __init__(self, items: int = 8, first_s: float = 0.002, gap_s: float = 0.001) -> None:
        if items < 1:
            raise ValueError(f"items must be at least 1, not {items}")
        self.items = items
        self.first_s = first_s
        self.gap_s = gap_s

    def process(self, data: Any) -> Iterator[Any]:
        time.sleep(self.first_s)
        yield data
        for _ in range(self.items - 1):
            time.sleep(self.gap_s)
            yield data
