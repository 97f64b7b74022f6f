from __future__ import annotations

import os

from assay.errors import AssayError
from assay.loadgen.http.ceiling import Ceiling, measure_ceiling
from assay.loadgen.http.open_client import open_client
from assay.loadgen.http.plain.plain_client import PlainClient
from assay.loadgen.serving.measured.load_point import LoadPoint

_REQUESTS = 1000


class ClientCeiling:
    """What the client gets through on this machine, measured once, after the first load: about a second."""

    def __init__(self) -> None:
        self._measured: Ceiling | None = None
        self.missing = ""
        """Why it could not be measured."""

    def __call__(self, point: LoadPoint) -> float | None:
        """Requests a second, of answers that come in as many receipts as those of the point."""
        if not point.answered or self.missing:
            return None
        if self._measured is None:
            plain = point.exchanges.client.startswith(PlainClient.name)
            try:
                self._measured = measure_ceiling(
                    requests=_REQUESTS // 5 if plain else _REQUESTS, make=PlainClient if plain else open_client
                )
            except AssayError as error:
                self.missing = str(error)
                return None
        cores = min(point.asked.processes, len(os.sched_getaffinity(0)))
        return self._measured.most_per_s(len(point.exchanges.pieces) / len(point.exchanges)) * cores
