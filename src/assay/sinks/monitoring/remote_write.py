"""Prometheus' remote write, version 1.0 (prometheus.io/docs/specs/prw/remote_write_spec): a snappy-compressed
protocol buffer of series. The message has three kinds of field, so it is encoded here by hand:

    WriteRequest { repeated TimeSeries timeseries = 1 }
    TimeSeries   { repeated Label labels = 1; repeated Sample samples = 2 }
    Label        { string name = 1; string value = 2 }         labels sorted by name
    Sample       { double value = 1; int64 timestamp = 2 }     milliseconds
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Sequence

from assay.errors import MissingExtra
from assay.sinks.failure import Rejected, SinkFailure, Unavailable
from assay.sinks.http_target import HttpTarget
from assay.sinks.monitoring.measurement import Measurement

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
