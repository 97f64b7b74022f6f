from __future__ import annotations

import gzip
from collections.abc import Sequence
from typing import Any

from assay.errors import MissingExtra
from assay.sinks.failure import Rejected
from assay.sinks.http_target import HttpTarget
from assay.sinks.monitoring.measurement import HELP, Measurement


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
