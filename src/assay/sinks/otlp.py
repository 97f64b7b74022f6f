from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from assay.errors import MissingExtra
from assay.sinks.failure import Unavailable
from assay.sinks.measurement import HELP, Measurement


class Otlp:
    """OpenTelemetry metrics over HTTP. The exporter is called directly: the SDK's reader would send on a timer, and
    block twice its time-out when it is shut down."""

    def __init__(self, endpoint: str, headers: Mapping[str, str], timeout_s: float = 20.0) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        except ImportError:
            raise MissingExtra("OpenTelemetry", "monitoring") from None
        address = endpoint if endpoint.rstrip("/").endswith("/v1/metrics") else f"{endpoint.rstrip('/')}/v1/metrics"
        self._exporter = OTLPMetricExporter(endpoint=address, headers=dict(headers), timeout=timeout_s)

    def send(self, measurements: Sequence[Measurement]) -> None:
        from opentelemetry.sdk.metrics.export import MetricExportResult

        with _LastWords() as said:
            result = self._exporter.export(_metrics_data(measurements))
        if result is not MetricExportResult.SUCCESS:
            raise Unavailable(said.words or "the collector did not take the metrics")


class _LastWords(logging.Handler):
    """The exporter says only that it failed; why, it logs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.words = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.words = record.getMessage()

    def __enter__(self) -> _LastWords:
        logging.getLogger("opentelemetry").addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("opentelemetry").removeHandler(self)


def _metrics_data(measurements: Sequence[Measurement]) -> object:
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
