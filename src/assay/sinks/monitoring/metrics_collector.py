"""Metrics to a monitoring system, from a program:

from assay.sinks.monitoring.metrics_collector import MetricsCollector

collector = MetricsCollector(backend="prometheus", endpoint="http://localhost:9090")
sent = collector.send_metrics(results)      # sent.problem says why nothing arrived; nothing is raised
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from itertools import islice
from typing import Any, Protocol

from assay.errors import AssayError, UsageError
from assay.names import unknown
from assay.record import Record
from assay.sinks.failure import SinkFailure
from assay.sinks.http_target import HttpTarget
from assay.sinks.monitoring.measurement import Measurement, numbers_in, of_metrics, of_record

BACKENDS = ("prometheus", "pushgateway", "remote_write", "grafana", "datadog", "otlp")
_AT_ONCE = 500


class Backend(Protocol):
    def send(self, measurements: Sequence[Measurement]) -> None:
        """Raises a SinkFailure if they did not arrive."""


@dataclass(frozen=True)
class Sent:
    measurements: int
    problem: str | None = None

    @property
    def ok(self) -> bool:
        return self.problem is None


class MetricsCollector:
    """`prometheus` is a server that takes remote writes or a push gateway, found out by asking; `grafana` a Grafana
    server, or with an address that ends in /push what Grafana Cloud takes remote writes at."""

    def __init__(
        self, backend: str, endpoint: str = "", token: str = "", job: str = "assay", timeout_s: float = 10.0
    ) -> None:
        if backend not in BACKENDS:
            raise UsageError(unknown("monitoring backend", backend, BACKENDS))
        self._options = (backend, endpoint, token, job, timeout_s)
        self._backend: Backend | None = None

    def send_metrics(self, results: Any) -> Sent:
        """`results`: a Record, what `Record.to_json` gives, anything with numbers in it, or many of them."""
        sent = 0
        try:
            if self._backend is None:
                self._backend = make_backend(*self._options)
            measurements = _measurements(results)
            while batch := list(islice(measurements, _AT_ONCE)):
                self._backend.send(batch)
                sent += len(batch)
        except (SinkFailure, AssayError, OSError) as failure:
            return Sent(sent, str(failure))
        return Sent(sent)


def make_backend(backend: str, endpoint: str, token: str = "", job: str = "assay", timeout_s: float = 10.0) -> Backend:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    if backend == "datadog":
        from assay.sinks.monitoring.dogstatsd import DogStatsd

        return DogStatsd(endpoint or "127.0.0.1:8125")
    if backend == "otlp":
        from assay.sinks.monitoring.otlp import Otlp

        return Otlp(HttpTarget(endpoint or "http://127.0.0.1:4318", headers, timeout_s))
    target = HttpTarget(endpoint or "http://127.0.0.1:9090", headers, timeout_s)
    if backend == "grafana" and not endpoint.rstrip("/").endswith(("/push", "/write")):
        from assay.sinks.monitoring.grafana import GrafanaLive

        return GrafanaLive(target)
    from assay.sinks.monitoring.prometheus_endpoint import KINDS, prometheus_backend

    return prometheus_backend(target, backend if backend in KINDS else None, job)


def _measurements(results: Any) -> Iterator[Measurement]:
    now = round(time.time() * 1000)
    for place, result in enumerate(_each(results)):
        if isinstance(result, Record):
            yield from of_record(result)
        elif isinstance(result, Mapping) and "run_id" in result and "script_metrics" in result:
            yield from of_record(Record.from_json(result))
        elif callable(getattr(result, "metrics", None)):
            name = next((getattr(result, word) for word in ("suite", "profile", "name") if hasattr(result, word)), "")
            yield from of_metrics(result.metrics(), str(name or f"result-{place}"), now)
        else:
            plain = _plain(result)
            name = next((plain[word] for word in ("name", "scenario", "entry") if plain.get(word)), f"result-{place}")
            yield from of_metrics(numbers_in(plain.get("metrics", plain)), str(name), now)


def _each(results: Any) -> Iterator[Any]:
    """One result or many: a list, `.records` or `.results` of something, a mapping of names to results."""
    inside = getattr(results, "records", None) or getattr(results, "results", None)
    if inside is not None and not callable(inside):
        results = inside
    if (
        isinstance(results, Mapping)
        and "run_id" not in results
        and any(isinstance(v, Mapping) for v in results.values())
    ):
        for name, result in results.items():
            yield {"name": name, **result} if isinstance(result, Mapping) else {"name": name, "value": result}
    elif isinstance(results, str | bytes | Mapping | Record) or not hasattr(results, "__iter__"):
        yield results
    else:
        yield from results


def _plain(result: Any) -> dict[str, Any]:
    if isinstance(result, Mapping):
        return dict(result)
    to_json = getattr(result, "to_json", None) or getattr(result, "to_dict", None)
    if callable(to_json):
        return dict(to_json())
    if is_dataclass(result) and not isinstance(result, type):
        return asdict(result)
    return {"value": result}
