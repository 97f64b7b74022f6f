from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from assay.analysis.fields import Fields
from assay.errors import DataError
from assay.files.json_text import read_json, untag
from assay.files.reading import RESULT
from assay.record import SERVING_FILE

_MOST_SLOTS = 500
_MOST_KINDS = 12

Values = tuple[float | None, ...]


@dataclass(frozen=True)
class LoadSeries:
    """The course of a load, in slots of equal length."""

    slot_s: float
    in_flight: Values
    sent_per_s: Values
    requests_per_s: Values
    output_tokens_per_s: Values
    errors: tuple[tuple[str, Values], ...]
    """Number of errors in each slot, by kind."""

    @classmethod
    def read(cls, written: Fields) -> LoadSeries | None:
        slot = written.number("slot_s")
        if slot is None or slot <= 0:
            return None
        kinds = written.inner("errors")
        return cls(
            slot_s=slot,
            in_flight=written.numbers("in_flight", _MOST_SLOTS),
            sent_per_s=written.numbers("sent_per_s", _MOST_SLOTS),
            requests_per_s=written.numbers("requests_per_s", _MOST_SLOTS),
            output_tokens_per_s=written.numbers("output_tokens_per_s", _MOST_SLOTS),
            errors=tuple(
                (str(kind)[:60], kinds.numbers(kind, _MOST_SLOTS)) for kind in list(kinds.written)[:_MOST_KINDS]
            ),
        )

    @property
    def slots(self) -> int:
        return len(self.in_flight)


_MOST_POINTS = 200
_MOST_TIMES = 100


@dataclass(frozen=True)
class CurvePoint:
    """One rate of a sweep; `times` in seconds, by metric."""

    rate: float
    """Requests a second asked for, or requests in flight of a closed loop."""
    answered_per_s: float | None
    tokens_per_s: float | None
    delivered_share: float | None
    valid: bool
    saturated: bool
    client_bottleneck: bool
    errors: int
    times: dict[str, float]

    @classmethod
    def read(cls, written: Fields) -> CurvePoint | None:
        rate = written.at_least_0("rate")
        if rate is None:
            rate = written.at_least_0("concurrency")
        if rate is None:
            return None
        times = written.inner("times")
        found = {str(name): times.at_least_0(name) for name in list(times.written)[:_MOST_TIMES]}
        return cls(
            rate=rate,
            answered_per_s=written.at_least_0("requests_per_s"),
            tokens_per_s=written.at_least_0("output_tokens_per_s"),
            delivered_share=written.at_least_0("delivered_share"),
            valid=written.flag("valid") is True,
            saturated=written.flag("saturated") is True,
            client_bottleneck=written.flag("client_bottleneck") is True,
            errors=written.count("errors"),
            times={name: value for name, value in found.items() if value is not None},
        )


@dataclass(frozen=True)
class ServingCurve:
    """Loads at several rates, and the highest that met the objectives, where that was looked for."""

    points: tuple[CurvePoint, ...]
    by_rate: bool
    """False: the points are numbers of requests in flight."""
    sought: bool
    peak_rate: float | None
    peak_bounded: bool
    peak_confirmed: bool

    @classmethod
    def read(cls, written: Fields) -> ServingCurve | None:
        points = written.each("points", _MOST_POINTS, CurvePoint.read)
        if not points:
            return None
        peak = written.inner("peak")
        first = written.list_of("points")[0]
        return cls(
            points=points,
            by_rate=isinstance(first, dict) and first.get("rate") is not None,
            sought=bool(peak.written),
            peak_rate=peak.at_least_0("rate"),
            peak_bounded=peak.flag("bounded") is True,
            peak_confirmed=peak.flag("confirmed") is True,
        )


_MOST_BINS = 200


@dataclass(frozen=True)
class TimeDistribution:
    """Distribution of one kind of time, in seconds."""

    name: str
    edges: tuple[float, ...]
    """Ends of the bins, one more than there are counts."""
    counts: tuple[int, ...]
    quantiles: tuple[tuple[str, float], ...]
    count: int

    @classmethod
    def read(cls, name: str, written: Fields) -> TimeDistribution | None:
        edges = tuple(edge for edge in written.numbers("edges_s", _MOST_BINS + 1) if edge is not None)
        counts = tuple(int(count) for count in written.numbers("counts", _MOST_BINS) if count is not None)
        ascending = all(low < high for low, high in pairwise(edges)) and min(counts, default=0) >= 0
        if not counts or len(edges) != len(counts) + 1 or not ascending or not any(counts):
            return None
        shares = written.inner("quantiles_s")
        quantiles = [(share, shares.at_least_0(share)) for share in shares.written if isinstance(share, str)]
        return cls(
            name, edges, counts, tuple((share, at) for share, at in quantiles[:8] if at is not None),
            written.count("count") or sum(counts),
        )  # fmt: skip


_MOST_METRICS = 200
_MOST_ERROR_KINDS = 20
_MOST_NOTES = 20
_MOST_OBJECTIVES = 20
_REASONS = ("failed", "saturated", "client_bottleneck", "undelivered")


@dataclass(frozen=True)
class ObjectiveSaid:
    objective: str
    met: bool
    sure: bool
    reason: str

    @classmethod
    def read(cls, written: Fields) -> ObjectiveSaid | None:
        met = written.flag("met")
        if met is None:
            return None
        return cls(written.sentence("objective"), met, written.flag("sure") is True, written.sentence("reason"))


@dataclass(frozen=True)
class ServingPoint:
    """One load on an endpoint: what was asked, what was delivered, what came of it."""

    label: str
    asked_rate: float | None
    asked_in_flight: float | None
    loop: str
    delivered_rate: float | None
    delivered_in_flight: float | None
    delivered_share: float | None
    lateness_p99_s: float | None
    requests: int
    duration_s: float | None
    of_server: bool
    """The times say something about the server under the load that was asked for."""
    reasons: tuple[str, ...]
    """Why they do not; empty where they do."""
    objectives: tuple[ObjectiveSaid, ...]
    client: str
    client_cpu_share: float | None
    counted_by: str
    metrics: dict[str, float]
    errors: tuple[tuple[str, int], ...]
    histograms: tuple[TimeDistribution, ...]
    series: LoadSeries | None
    notes: tuple[str, ...]

    @classmethod
    def read(cls, written: Fields) -> ServingPoint | None:
        asked, delivered, verdict, client = (
            written.inner(part) for part in ("asked", "delivered", "verdict", "client")
        )
        metrics, errors, histograms = (written.inner(part) for part in ("metrics", "errors", "histograms"))
        found = [
            TimeDistribution.read(str(name)[:60], histograms.inner(name)) for name in list(histograms.written)[:12]
        ]
        numbers = {str(name): metrics.number(name) for name in list(metrics.written)[:_MOST_METRICS]}
        return cls(
            label=written.text("label") or asked.text("words") or "load",
            asked_rate=asked.at_least_0("rate"),
            asked_in_flight=asked.at_least_0("concurrency"),
            loop=asked.text("loop"),
            delivered_rate=delivered.at_least_0("rate"),
            delivered_in_flight=delivered.at_least_0("in_flight"),
            delivered_share=delivered.at_least_0("share"),
            lateness_p99_s=delivered.number("lateness_s_p99"),
            requests=delivered.count("scheduled"),
            duration_s=written.at_least_0("duration_s"),
            of_server=verdict.flag("of_server") is not False,
            reasons=tuple(said for name in _REASONS if (said := verdict.sentence(name))),
            objectives=written.each("objectives", _MOST_OBJECTIVES, ObjectiveSaid.read),
            client=client.text("name"),
            client_cpu_share=client.at_least_0("cpu_share"),
            counted_by=written.text("counted_by"),
            metrics={name: value for name, value in numbers.items() if value is not None},
            errors=tuple((str(kind)[:60], errors.count(kind)) for kind in list(errors.written)[:_MOST_ERROR_KINDS]),
            histograms=tuple(one for one in found if one is not None),
            series=LoadSeries.read(written.inner("over_time")),
            notes=written.sentences("notes", _MOST_NOTES),
        )

    @property
    def error_count(self) -> int:
        return sum(count for _, count in self.errors)


FILE_NAME: Final = SERVING_FILE
VERSION: Final = 1


@dataclass(frozen=True)
class ServingResult:
    """What `serving.json` says, as far as it can be read."""

    endpoint: str
    model: str
    points: tuple[ServingPoint, ...]
    curve: ServingCurve | None
    definitions: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, path: Path) -> ServingResult:
        """Raises `DataError` where nothing can be shown, and FileNotFoundError."""
        whole = read_json(path, RESULT, untag)
        if not isinstance(whole, dict):
            raise DataError(f"{path}: holds a {type(whole).__name__}, not what `assay load` writes")
        written = Fields(whole)
        version = written.number("version")
        if version != VERSION:
            told = "no version" if version is None else f"version {version:g}"
            raise DataError(f"{path}: has {told}, and this Assay reads version {VERSION}")
        points = written.each("points", _MOST_POINTS, ServingPoint.read)
        if not points:
            raise DataError(f"{path}: has no load that can be read")
        said = written.inner("definitions")
        return cls(
            endpoint=written.text("endpoint"),
            model=written.text("model"),
            points=points,
            curve=ServingCurve.read(written.inner("curve")),
            definitions=tuple((str(name)[:60], said.sentence(name)) for name in list(said.written)[:60]),
        )


def serving_file(folder: Path) -> Path | None:
    path = folder / FILE_NAME
    return path if os.path.isfile(path) else None
