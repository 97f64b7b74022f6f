"""The dashboard that is shipped: `assay sinks dashboard > assay.json`, then import it into Grafana. It asks for its
Prometheus data source when it is imported."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from assay.sinks.http_target import HttpTarget
from assay.sinks.monitoring.metrics_collector import Measurement


class GrafanaLive:
    """A Grafana server itself, through Grafana Live (`/api/live/push/<stream>`, Influx line protocol): panels show
    it as it comes. Grafana stores nothing; for history give the address of the Prometheus that it reads."""

    def __init__(self, target: HttpTarget, stream: str = "assay") -> None:
        self._target = target
        self._path = f"/api/live/push/{quote(stream, safe='')}"

    def send(self, measurements: Sequence[Measurement]) -> None:
        lines = "\n".join(_line(m) for m in measurements if math.isfinite(m.value))
        self._target.send("POST", self._path, lines.encode(), Content_Type="text/plain")


def _line(measurement: Measurement) -> str:
    tags = "".join(f",{_escape(key)}={_escape(value)}" for key, value in measurement.labels.items() if value)
    return f"{measurement.name}{tags} value={measurement.value!r} {measurement.at_ms * 1_000_000}"


def _escape(text: str) -> str:
    plain = " ".join(text.split()).rstrip("\\")
    return plain.replace(",", "\\,").replace("=", "\\=").replace(" ", "\\ ")


def dashboard() -> dict[str, Any]:
    written: dict[str, Any] = json.loads(
        files("assay.sinks.monitoring").joinpath("dashboards/assay.json").read_text("utf-8")
    )
    return written
