"""A collector that takes OTLP over HTTP, decoding the protocol buffer by its wire format alone (the field numbers are
those of opentelemetry/proto/metrics/v1/metrics.proto), so that an error in the exporter's classes would show."""

from __future__ import annotations

import gzip
import struct
from dataclasses import dataclass
from typing import Any

from tests.sinks.moody_server import Answer, MoodyServer, Request


@dataclass(frozen=True)
class Point:
    name: str
    unit: str
    value: float
    time_ns: int
    attributes: dict[str, str]
    resource: dict[str, str]


class Collector:
    def __init__(self) -> None:
        self.points: list[Point] = []
        self.server = MoodyServer(self._take)

    def _take(self, request: Request) -> Answer:
        if request.method != "POST" or request.route != "/v1/metrics":
            return Answer(404)
        if request.headers.get("content-type") != "application/x-protobuf":
            return Answer(415)
        body = gzip.decompress(request.body) if request.headers.get("content-encoding") == "gzip" else request.body
        self.points += decode(body)
        return Answer(200, b"", {"Content-Type": "application/x-protobuf"})


def fields(data: bytes) -> dict[int, list[Any]]:
    """Field number → values, as protocol buffers are written: varint, 64 bit, or bytes."""
    found: dict[int, list[Any]] = {}
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = _varint(data, at)
        elif wire == 1:
            value, at = data[at : at + 8], at + 8
        elif wire == 2:
            length, at = _varint(data, at)
            value, at = data[at : at + length], at + length
            assert len(value) == length
        else:
            raise AssertionError(f"wire type {wire}")
        found.setdefault(number, []).append(value)
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at


def _attributes(items: list[bytes]) -> dict[str, str]:
    out = {}
    for item in items:
        pair = fields(item)
        value = fields(pair[2][0]) if pair.get(2) else {}
        out[pair[1][0].decode()] = value[1][0].decode() if 1 in value else ""
    return out


def decode(body: bytes) -> list[Point]:
    points = []
    for resource_metrics in map(fields, fields(body).get(1, [])):
        resource = _attributes(fields(resource_metrics[1][0]).get(1, []))
        for scope_metrics in map(fields, resource_metrics.get(2, [])):
            for metric in map(fields, scope_metrics.get(2, [])):
                unit = metric[3][0].decode() if 3 in metric else ""
                gauge = fields(metric[5][0])
                for point in map(fields, gauge.get(1, [])):
                    value = struct.unpack("<d", point[4][0])[0]
                    time_ns = struct.unpack("<Q", point[3][0])[0]
                    points.append(
                        Point(metric[1][0].decode(), unit, value, time_ns, _attributes(point.get(7, [])), resource)
                    )
    return points
