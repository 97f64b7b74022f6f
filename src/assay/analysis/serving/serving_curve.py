from __future__ import annotations

from dataclasses import dataclass

from assay.analysis.fields import Fields

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
