"""Records out to other systems: MLflow, W&B, Slack, Drive, Prometheus, OTLP, Datadog, files.

What happens is written to an outbox in the session's folder; a process beside the session delivers it. A sink that
is down, slow or broken never changes a result or holds one up, and what it missed is delivered later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.exports import exports

if TYPE_CHECKING:
    from assay.sinks.delivery.delivery import Delivery
    from assay.sinks.delivery.status import SinkStatus
    from assay.sinks.failure import Rejected, Unavailable
    from assay.sinks.monitoring.metrics_collector import MetricsCollector
    from assay.sinks.sink import Sink
    from assay.sinks.spec_check import check_spec

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
        "Rejected": "failure",
        "Sink": "sink",
        "SinkStatus": "delivery.status",
        "Unavailable": "failure",
        "check_spec": "spec_check",
    },
)
