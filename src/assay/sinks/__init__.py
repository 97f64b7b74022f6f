"""Records out to other systems: MLflow, W&B, Slack, Drive, Prometheus, OTLP, Datadog, files.

What happens is written to an outbox in the session's folder; a process beside the session delivers it. A sink that
is down, slow or broken never changes a result or holds one up, and what it missed is delivered later.
"""

from assay.sinks.delivery import Delivery
from assay.sinks.failure import Rejected, Unavailable
from assay.sinks.sink import Sink
from assay.sinks.spec_check import check_spec
from assay.sinks.status import SinkStatus

__all__ = ["Delivery", "Rejected", "Sink", "SinkStatus", "Unavailable", "check_spec"]
