from __future__ import annotations

import errno
import math
import socket
import time
from collections.abc import Mapping, Sequence

from assay.errors import MissingExtra
from assay.sinks.failure import Unavailable
from assay.sinks.monitoring.agent_address import AgentAddress
from assay.sinks.monitoring.measurement import Measurement, plain_name


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
