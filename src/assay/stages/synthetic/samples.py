from __future__ import annotations

from assay.pipeline.resources import Worker
from assay.pipeline.stage import Stage


class Samples(Stage[int, bytes]):
    """A data set of `count` byte strings, made at set-up: query n gets sample n modulo count."""

    name = "samples"

    def __init__(self, count: int = 64, kilobytes: int = 1) -> None:
        self.count = count
        self.kilobytes = kilobytes
        self._samples: list[bytes] = []

    def setup(self, worker: Worker) -> None:
        self._samples = [n.to_bytes(8, "little") * (self.kilobytes * 125) for n in range(self.count)]

    def __len__(self) -> int:
        return len(self._samples)

    def process(self, data: int) -> bytes:
        return self._samples[data]
