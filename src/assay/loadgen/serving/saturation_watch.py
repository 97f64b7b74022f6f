from __future__ import annotations

import numpy as np

from assay.loadgen.http.http_client import HttpClient
from assay.loadgen.measured import Ints
from assay.loadgen.serving.measured.saturation import Saturation, find_saturation

_LOOK_EVERY_NS = 250_000_000


class SaturationWatch:
    """Stops an open loop whose server falls further and further behind."""

    def __init__(self, client: HttpClient, at_ns: Ints) -> None:
        self._client = client
        self._at = at_ns
        self._numbers: list[int] = []
        self._ended: list[int] = []
        self._looked = 0
        self.found: Saturation | None = None

    def on_end(self, number: int) -> None:
        now = self._client.now_ns()
        self._numbers.append(number)
        self._ended.append(now)
        if now - self._looked < _LOOK_EVERY_NS or self.found is not None:
            return
        self._looked = now
        ended = np.asarray(self._ended, np.int64)
        latency = ended - self._at[np.asarray(self._numbers)]
        self.found = find_saturation(self._at[self._at <= now], ended, latency, now)
        if self.found is not None:
            self._client.stop()
