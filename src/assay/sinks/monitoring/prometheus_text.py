"""Measurements in Prometheus' text format. For a scrape endpoint:

Response(exposition(records, hosts), headers={"Content-Type": CONTENT_TYPE})
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from assay.errors import MissingExtra
from assay.record import Record
from assay.sinks.monitoring.measurement import HELP, Measurement, of_record

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
