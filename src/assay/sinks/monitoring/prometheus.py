"""Measurements in Prometheus' text format. For a scrape endpoint:

Response(exposition(records, hosts), headers={"Content-Type": CONTENT_TYPE})
"""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit, urlunsplit

from assay.errors import MissingExtra
from assay.record import Record
from assay.sinks.http_target import HttpTarget, raise_for_status
from assay.sinks.monitoring.metrics_collector import HELP, Measurement, of_record
from assay.sinks.sink import Rejected, SinkFailure, Unavailable

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def exposition(records: Iterable[Record], hosts: Mapping[str, str] | None = None) -> bytes:
    """The latest result of every entry, whatever order the records come in. `hosts`: name of the host, by session."""
    try:
        from prometheus_client import generate_latest
    except ImportError:
        raise MissingExtra("prometheus-client", "monitoring") from None
    known = hosts or {}
    found = [found for record in latest(records) for found in of_record(record, known.get(record.session, ""))]
    return bytes(generate_latest(Families(found)))


def latest(records: Iterable[Record]) -> list[Record]:
    newest: dict[tuple[str, int], Record] = {}
    for record in records:
        known = newest.get((record.name, record.repeat))
        if record.counts and (known is None or known.started_at <= record.started_at):
            newest[record.name, record.repeat] = record
    return list(newest.values())


class Families:
    """Measurements as prometheus_client collects them: a gauge for each name."""

    def __init__(self, measurements: Iterable[Measurement]) -> None:
        self._measurements = sorted(measurements, key=lambda measurement: measurement.name)

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import GaugeMetricFamily

        for name, group in groupby(self._measurements, key=lambda measurement: measurement.name):
            members = list(group)
            labels = list(members[0].labels)
            family = GaugeMetricFamily(name, HELP.get(name, name), labels=labels)
            for member in members:
                family.add_metric([member.labels.get(label, "") for label in labels], member.value)
            yield family


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


# Prometheus' remote write, version 1.0 (prometheus.io/docs/specs/prw/remote_write_spec): a snappy-compressed
# protocol buffer of series. The message has three kinds of field, so it is encoded here by hand:
#
#     WriteRequest { repeated TimeSeries timeseries = 1 }
#     TimeSeries   { repeated Label labels = 1; repeated Sample samples = 2 }
#     Label        { string name = 1; string value = 2 }         labels sorted by name
#     Sample       { double value = 1; int64 timestamp = 2 }     milliseconds

_TOO_OLD = ("out of bounds", "too old", "out of order")


class RemoteWrite:
    """A server that takes samples. The same sample written twice is one sample, so sending again changes nothing."""

    def __init__(self, target: HttpTarget, path: str = "/api/v1/write", job: str = "assay") -> None:
        self._target = target
        self._path = path
        self._job = job
        self.late_ms: Callable[[], int] = lambda: round(time.time() * 1000)
        """The time of samples that come too late for their own."""

    def send(self, measurements: Sequence[Measurement]) -> None:
        try:
            self._write(measurements, None)
        except Rejected as refusal:
            if not any(words in str(refusal) for words in _TOO_OLD):
                raise
            # A server takes no samples older than its newest block: what was delayed is written at the time it
            # arrives; `assay_run_finished_timestamp_seconds` still says when it was measured.
            self._write(measurements, self.late_ms())

    def _write(self, measurements: Sequence[Measurement], at_ms: int | None) -> None:
        try:
            import cramjam
        except ImportError:
            raise MissingExtra("cramjam", "monitoring") from None
        body = bytes(cramjam.snappy.compress_raw(write_request(measurements, self._job, at_ms)))
        try:
            self._target.send(
                "POST",
                self._path,
                body,
                Content_Encoding="snappy",
                Content_Type="application/x-protobuf",
                X_Prometheus_Remote_Write_Version="0.1.0",
                User_Agent="assay",
            )
        except SinkFailure as failure:
            if failure.status == 404:
                raise Unavailable(
                    "takes no remote writes: start Prometheus with --web.enable-remote-write-receiver"
                ) from None
            raise


def write_request(measurements: Sequence[Measurement], job: str, at_ms: int | None = None) -> bytes:
    return b"".join(_field(1, _series(measurement, job, at_ms or measurement.at_ms)) for measurement in measurements)


def _series(measurement: Measurement, job: str, at_ms: int) -> bytes:
    labels = {"__name__": measurement.name, "job": job, **measurement.labels}
    encoded = [
        _field(1, _field(1, name.encode()) + _field(2, value.encode("utf-8", "replace")))
        for name, value in sorted(labels.items())
        if value
    ]
    sample = b"\x09" + struct.pack("<d", measurement.value) + b"\x10" + _varint(at_ms & (1 << 64) - 1)
    return b"".join(encoded) + _field(2, sample)


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


KINDS = ("pushgateway", "remote_write")


def prometheus_backend(target: HttpTarget, kind: str | None = None, job: str = "assay") -> PushGateway | RemoteWrite:
    """What stands at an address: as named by `kind` or by the address' path, otherwise by asking it."""
    parts = urlsplit(target.url)
    if "/metrics/job/" in parts.path:
        base, _, named = parts.path.partition("/metrics/job/")
        bare = HttpTarget(urlunsplit(parts._replace(path=base)), target.headers, target.timeout_s)
        return PushGateway(bare, unquote(named.split("/")[0]) or job)
    if parts.path.rstrip("/").endswith(("/write", "/push")):
        return RemoteWrite(target, "", job)
    kind = kind or _ask(target)
    return PushGateway(target, job) if kind == "pushgateway" else RemoteWrite(target, "/api/v1/write", job)


def _ask(target: HttpTarget) -> str:
    """Both answer under /api/v1/status…: the gateway lists its build there, Prometheus has it one level below."""
    for path, kind in (("/api/v1/status/buildinfo", "remote_write"), ("/api/v1/status", "pushgateway")):
        try:
            answered = json.loads(target.send("GET", path))
        except ValueError:
            continue
        except SinkFailure as failure:
            if failure.status is not None and 400 <= failure.status < 500:
                continue
            raise
        if isinstance(answered, dict) and answered.get("status") == "success":
            return kind
    raise Unavailable(f"{target.url} is neither a Prometheus server nor a push gateway; say which with `kind:`")
