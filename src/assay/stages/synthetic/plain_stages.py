from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from assay.pipeline.stage import Stage, StreamStage, Worker


class NoOp(Stage[Any, Any]):
    """Returns what it was given: what remains is the cost of measuring."""

    name = "no-op"

    def process(self, data: Any) -> Any:
        return data


class PassThrough(NoOp):
    """Where branches meet, or a query ends. As the data set it is one sample."""

    name = "pass-through"

    def __len__(self) -> int:
        return 1


class PayloadCopy(Stage[Any, bytes]):
    """Hands on a fresh copy of `kilobytes` of bytes: what passing payloads by value would cost."""

    name = "payload copy"

    def __init__(self, kilobytes: int = 1000) -> None:
        if kilobytes < 1:
            raise ValueError(f"kilobytes must be at least 1, not {kilobytes}")
        self.kilobytes = kilobytes

    def setup(self, worker: Worker) -> None:
        self._payload = bytearray(self.kilobytes * 1000)

    def process(self, data: Any) -> bytes:
        return bytes(data if isinstance(data, bytes | bytearray) else self._payload)


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


class Sleep(Stage[Any, Any]):
    """Waits, as for a device or a service, without using a core."""

    name = "sleep"

    def __init__(self, seconds: float = 0.001) -> None:
        if seconds < 0:
            raise ValueError(f"seconds must not be negative, not {seconds}")
        self.seconds = seconds

    def process(self, data: Any) -> Any:
        time.sleep(self.seconds)
        return data


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
