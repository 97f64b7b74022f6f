from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any
from urllib.error import HTTPError

from assay.errors import MissingExtra
from assay.sinks.failure import Unavailable
from assay.sinks.http_target import HttpTarget, raise_for_status
from assay.sinks.monitoring.measurement import Measurement
from assay.sinks.monitoring.prometheus_text import Families


class PushGateway:
    """Prometheus' push gateway. Pushing replaces a group, so that pushing again changes nothing."""

    def __init__(self, target: HttpTarget, job: str = "assay") -> None:
        self._target = target
        self._job = job

    def send(self, measurements: Sequence[Measurement]) -> None:
        try:
            from prometheus_client import push_to_gateway
        except ImportError:
            raise MissingExtra("prometheus-client", "monitoring") from None
        ordered = sorted(measurements, key=_group)
        for (entry, repeat, host), members in groupby(ordered, key=_group):
            key = {"entry": entry, "repeat": repeat, **({"instance": host} if host else {})}
            try:
                push_to_gateway(
                    self._target.url,
                    job=self._job,
                    registry=Families(members),
                    grouping_key=key,
                    timeout=self._target.timeout_s,
                    handler=self._handler,
                )
            except HTTPError as error:
                raise_for_status(error.code, error.read(500).decode(errors="replace"), error.headers.get("Retry-After"))
            except OSError as error:
                raise Unavailable(f"push gateway: {getattr(error, 'reason', error)}") from None

    def _handler(
        self, url: str, method: str, timeout: float | None, headers: list[tuple[str, str]], data: bytes
    ) -> Callable[[], None]:
        """Carries the headers that reach a gateway behind a proxy, which the client has no other place for."""
        from prometheus_client.exposition import default_handler

        handle: Callable[[], None] = default_handler(
            url, method, timeout, [*headers, *self._target.headers.items()], data
        )
        return handle


def _group(measurement: Measurement) -> tuple[str, str, str]:
    labels: Any = measurement.labels
    return labels.get("entry", ""), labels.get("repeat", "1"), labels.get("host", "")
