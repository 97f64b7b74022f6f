"""The dashboard that is shipped: `assay sinks dashboard > assay.json`, then import it into Grafana. It asks for its
Prometheus data source when it is imported."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, ClassVar
from urllib.parse import quote

from assay.record import Record
from assay.sinks.http_target import HttpTarget
from assay.sinks.monitoring.metrics_collector import Backend, Measurement, make_backend, of_record
from assay.sinks.monitoring.prometheus import RemoteWrite
from assay.sinks.sink import Key, Sink


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


class MonitoringSink(Sink):
    """Each run's numbers, as soon as it is over, to a monitoring system."""

    backend = ""
    keys: ClassVar[tuple[Key, ...]] = (
        Key("endpoint", "where it listens"),
        Key("token", "sent as `Authorization: Bearer …`", secret=True),
        Key("job", "value of the `job` label (default: assay)"),
    )

    def initialize(self, session_name: str, env_data: dict[str, Any]) -> None:
        self._host = str(env_data.get("host") or "")
        self._to: Backend | None = None

    def process_result(self, result: dict[str, Any]) -> None:
        record = Record.from_json(result)
        if not record.counts:
            return
        if self._to is None:
            self._to = self._make()
            if isinstance(self._to, RemoteWrite):
                self._to.late_ms = self._late_ms
        self._to.send(list(of_record(record, self._host)))

    def _late_ms(self) -> int:
        """Time for a late sample, the same however often this message is sent: two times would be two samples."""
        key = f"late {self.context.message_key}"
        if key not in self.context.memory:
            self.context.memory[key] = round(time.time() * 1000)
        return int(self.context.memory.get(key))

    def _make(self) -> Backend:
        text = {key: str(self.config.get(key) or "") for key in ("endpoint", "token")}
        kind = str(self.config.get("kind") or self.backend)
        return make_backend(kind, text["endpoint"], text["token"], str(self.config.get("job") or "assay"), 25.0)


class PrometheusSink(MonitoringSink):
    summary = "Prometheus: a push gateway, or a server that takes remote writes"
    backend = "prometheus"
    keys = (
        Key("endpoint", "http://host:9091 of a push gateway or http://host:9090 of a server", required=True),
        Key("kind", "pushgateway or remote_write (default: found out by asking)"),
        *MonitoringSink.keys[1:],
    )

    @classmethod
    def problems(cls, config: dict[str, Any]) -> list[str]:
        if config.get("kind") in (None, "pushgateway", "remote_write"):
            return []
        return [f"kind: {config['kind']!r} is neither pushgateway nor remote_write"]


class OtlpSink(MonitoringSink):
    summary = "OpenTelemetry metrics to a collector, over HTTP"
    backend = "otlp"
    keys = (Key("endpoint", "http://host:4318 of a collector", required=True), MonitoringSink.keys[1])


class DatadogSink(MonitoringSink):
    summary = "Datadog, through the DogStatsD port of an agent"
    backend = "datadog"
    keys = (Key("endpoint", "host:port, or unix:///path of the agent's socket (default: 127.0.0.1:8125)"),)


class GrafanaSink(MonitoringSink):
    summary = "Grafana Live, or Grafana Cloud's remote write"
    backend = "grafana"
    keys = (
        Key("endpoint", "http://host:3000, or Grafana Cloud's …/api/prom/push with user:token@", required=True),
        *MonitoringSink.keys[1:],
    )
