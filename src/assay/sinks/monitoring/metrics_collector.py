"""Metrics to a monitoring system, from a program:

from assay.sinks.monitoring.metrics_collector import MetricsCollector

collector = MetricsCollector(backend="prometheus", endpoint="http://localhost:9090")
sent = collector.send_metrics(results)      # sent.problem says why nothing arrived; nothing is raised
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Protocol

from assay.errors import AssayError, UsageError
from assay.names import unknown
from assay.record import Metric, Record
from assay.sinks.http_target import HttpTarget
from assay.sinks.sink import SinkFailure

_NUMBERS = (bool, int, float)


@dataclass(frozen=True)
class Measurement:
    """One number for a monitoring system: which series it belongs to, when it was measured."""

    name: str
    """`assay_metric`, `assay_run_success` …: a valid name in every system."""
    value: float
    labels: Mapping[str, str]
    at_ms: int
    unit: str = ""
    series: str = ""
    """The metric's own name, where `name` is `assay_metric`."""


HELP = {
    "assay_metric": "A metric of a benchmark entry's latest run.",
    "assay_run_success": "1 if the entry's latest run passed, otherwise 0.",
    "assay_run_duration_seconds": "How long the entry's latest run took.",
    "assay_run_finished_timestamp_seconds": "When the entry's latest run ended.",
    "assay_run_info": "Which run the other series are of.",
}


def of_record(record: Record, host: str = "") -> Iterator[Measurement]:
    """Series keep their identity from session to session; which run a value is of stands in `assay_run_info`."""
    ended = end_ms(record)
    entry = {"entry": record.name, "repeat": str(record.repeat), "host": host}
    yield Measurement("assay_run_success", float(record.success), entry, ended)
    yield Measurement("assay_run_duration_seconds", record.exec_time_s, entry, ended, "s")
    yield Measurement("assay_run_finished_timestamp_seconds", ended / 1000, entry, ended, "s")
    told = {"session": record.session, "run_id": record.run_id, "outcome": str(record.outcome)}
    yield Measurement("assay_run_info", 1.0, {**entry, **told, "git_commit": record.git_commit or ""}, ended)
    yield from _of_metrics(record.metrics.values(), entry, ended)


def of_metrics(metrics: Iterable[Metric], entry: str, at_ms: int) -> Iterator[Measurement]:
    """Measurements of results that are no records."""
    return _of_metrics(metrics, {"entry": entry, "repeat": "1", "host": ""}, at_ms)


def _of_metrics(metrics: Iterable[Metric], entry: Mapping[str, str], at_ms: int) -> Iterator[Measurement]:
    for metric in metrics:
        if isinstance(metric.value, _NUMBERS):
            labels = {**entry, "metric": metric.name, "unit": metric.unit or "", "better": metric.better or ""}
            yield Measurement("assay_metric", float(metric.value), labels, at_ms, metric.unit or "", metric.name)


def numbers_in(value: Any, path: str = "") -> Iterator[Metric]:
    """Every number, however deep, named by its path."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from numbers_in(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, _NUMBERS):
        yield Metric(path, value)


def end_ms(record: Record) -> int:
    try:
        began = datetime.fromisoformat(record.started_at).timestamp()
    except ValueError:
        began = 0.0
    return round((began + record.exec_time_s) * 1000)


def plain_name(name: str) -> str:
    """Letters, digits and `_` only, as metric names of most systems are."""
    plain = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")
    return plain if plain[:1].isalpha() else f"m_{plain}"


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
        from assay.sinks.monitoring.agents import DogStatsd

        return DogStatsd(endpoint or "127.0.0.1:8125")
    if backend == "otlp":
        from assay.sinks.monitoring.agents import Otlp

        return Otlp(HttpTarget(endpoint or "http://127.0.0.1:4318", headers, timeout_s))
    target = HttpTarget(endpoint or "http://127.0.0.1:9090", headers, timeout_s)
    if backend == "grafana" and not endpoint.rstrip("/").endswith(("/push", "/write")):
        from assay.sinks.monitoring.monitoring_sink import GrafanaLive

        return GrafanaLive(target)
    from assay.sinks.monitoring.prometheus import KINDS, prometheus_backend

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
