"""Records out to other systems: MLflow, W&B, Slack, Drive, Prometheus, OTLP, Datadog, files.

What happens is written to an outbox in the session's folder; a process beside the session delivers it. A sink that
is down, slow or broken never changes a result or holds one up, and what it missed is delivered later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.exports import exports

if TYPE_CHECKING:
    from assay.sinks.delivery.delivery import Delivery, SinkStatus
    from assay.sinks.monitoring.metrics_collector import MetricsCollector
    from assay.sinks.registry import check_spec
    from assay.sinks.sink import Rejected, Sink, Unavailable

__all__ = [
    "Delivery",
    "MetricsCollector",
    "Rejected",
    "Sink",
    "SinkStatus",
    "Unavailable",
    "check_spec",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "Delivery": "delivery.delivery",
        "MetricsCollector": "monitoring.metrics_collector",
        "Rejected": "sink",
        "Sink": "sink",
        "SinkStatus": "delivery.delivery",
        "Unavailable": "sink",
        "check_spec": "registry",
    },
)
