from __future__ import annotations

from typing import Any

from assay.pipeline.resources import Worker
from assay.pipeline.stage import Stage


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
