from __future__ import annotations

import errno
import gzip
import math
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from assay.errors import MissingExtra, UsageError
from assay.sinks.http_target import HttpTarget
from assay.sinks.monitoring.metrics_collector import HELP, Measurement, plain_name
from assay.sinks.sink import Rejected, Unavailable

PORT = 8125
_SCHEMES = ("", "udp", "statsd", "http")


@dataclass(frozen=True)
class AgentAddress:
    """Where Datadog's agent listens for DogStatsD: `host:port`, `http://host:port` (its host and port are taken) or
    `unix:///path`."""

    host: str = "127.0.0.1"
    port: int = PORT
    socket_path: str | None = None

    @classmethod
    def parse(cls, endpoint: str) -> AgentAddress:
        if endpoint.startswith(("unix://", "/")):
            return cls(socket_path=endpoint.removeprefix("unix://"))
        try:
            parts = urlsplit(endpoint if "//" in endpoint else f"//{endpoint}")
            port = parts.port
        except ValueError as error:
            raise _refusal(endpoint, str(error)) from None
        host = parts.hostname or ""
        if parts.scheme not in _SCHEMES or parts.path.strip("/") or host.startswith("api."):
            raise _refusal(endpoint, "that is no address of an agent; Datadog's own API is reached through one")
        return cls(host or "127.0.0.1", PORT if port is None else port)


def _refusal(endpoint: str, why: str) -> UsageError:
    return UsageError(
        f"datadog: endpoint {endpoint!r}: {why}; give host:port of the agent's DogStatsD, as 127.0.0.1:8125"
    )


class DogStatsd:
    """Datadog's agent, over UDP or a local socket. A datagram is not answered, so it is sent at least once, with the
    run it belongs to in its tags. A local agent that is not there is noticed all the same: the kernel reports the
    refused port on the socket that sent to it."""

    def __init__(self, endpoint: str = "127.0.0.1:8125", tags: Sequence[str] = ()) -> None:
        address = AgentAddress.parse(endpoint)
        try:
            from datadog.dogstatsd.base import DogStatsd as Client
        except ImportError:
            raise MissingExtra("datadog", "monitoring") from None
        options = {"disable_telemetry": True, "disable_buffering": True, "constant_tags": list(tags)}
        if address.socket_path is not None:
            self._client = Client(socket_path=address.socket_path, **options)
        else:
            self._client = Client(host=address.host, port=address.port, **options)

    def send(self, measurements: Sequence[Measurement]) -> None:
        self._ask_for_errors()
        run = next((m.labels for m in measurements if m.name == "assay_run_info"), {})
        for measurement in measurements:
            if measurement.name == "assay_run_info" or not math.isfinite(measurement.value):
                # A gauge has no word for NaN and infinities; what a run was is told as an event.
                continue
            self._client.gauge(_name(measurement), measurement.value, tags=_tags({**measurement.labels, **run}))
        if run:
            passed = run.get("outcome") == "passed"
            self._client.event(
                f"{run.get('entry')} {run.get('outcome')}",
                f"Benchmark run {run.get('run_id')}",
                alert_type="success" if passed else "error",
                aggregation_key=run.get("run_id"),
                date_happened=measurements[0].at_ms // 1000 or None,
                tags=_tags(run),
            )
        self._ask_for_errors(wait_s=0.05)

    def _ask_for_errors(self, wait_s: float = 0.0) -> None:
        """A connected socket keeps the error of the datagram before; the client itself only logs it."""
        try:
            connection = self._client.get_socket()
            if wait_s:
                time.sleep(wait_s)
            code = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        except OSError as error:
            self._client.close_socket()
            raise Unavailable(f"the Datadog agent: {error}") from None
        if code:
            self._client.close_socket()
            raise Unavailable(f"the Datadog agent is not listening: {errno.errorcode.get(code, code)}")


def _name(measurement: Measurement) -> str:
    if measurement.series:
        return f"assay.metric.{plain_name(measurement.series)}"
    return measurement.name.replace("_", ".", 1)


def _tags(labels: Mapping[str, str]) -> list[str]:
    return [f"{key}:{value.replace('|', '_').replace(',', '_')}" for key, value in labels.items() if value]


class Otlp:
    """OpenTelemetry metrics over HTTP. The SDK's classes and its encoder make the message; sending is ours, because
    its exporter tries again on its own for as long as it may wait at all, and says only that it failed."""

    def __init__(self, target: HttpTarget) -> None:
        self._target = target
        self._path = "" if target.url.rstrip("/").endswith("/v1/metrics") else "/v1/metrics"

    def send(self, measurements: Sequence[Measurement]) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
            from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse
        except ImportError:
            raise MissingExtra("OpenTelemetry", "monitoring") from None
        body = gzip.compress(encode_metrics(_metrics_data(measurements)).SerializeToString())
        kind = "application/x-protobuf"
        answered = self._target.send("POST", self._path, body, Content_Type=kind, Content_Encoding="gzip")
        partial = ExportMetricsServiceResponse.FromString(answered).partial_success
        if partial.rejected_data_points:
            raise Rejected(f"{partial.rejected_data_points} points were refused: {partial.error_message}")


def _metrics_data(measurements: Sequence[Measurement]) -> Any:
    from opentelemetry.sdk.metrics.export import (
        Gauge,
        Metric,
        MetricsData,
        NumberDataPoint,
        ResourceMetrics,
        ScopeMetrics,
    )
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

    metrics = [
        Metric(
            name=measurement.name.replace("_", ".", 1),
            description=HELP.get(measurement.name, ""),
            unit=measurement.unit,
            data=Gauge(
                [NumberDataPoint(dict(measurement.labels), 0, measurement.at_ms * 1_000_000, measurement.value)]
            ),
        )
        for measurement in measurements
    ]
    host = next((measurement.labels["host"] for measurement in measurements if measurement.labels.get("host")), "")
    resource = Resource({"service.name": "assay", "host.name": host})
    return MetricsData([ResourceMetrics(resource, [ScopeMetrics(InstrumentationScope("assay"), metrics, "")], "")])
