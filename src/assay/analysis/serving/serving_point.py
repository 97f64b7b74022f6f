from __future__ import annotations

from dataclasses import dataclass

from assay.analysis.fields import Fields
from assay.analysis.serving.load_series import LoadSeries
from assay.analysis.serving.time_distribution import TimeDistribution

_MOST_METRICS = 200
_MOST_KINDS = 20
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
            errors=tuple((str(kind)[:60], errors.count(kind)) for kind in list(errors.written)[:_MOST_KINDS]),
            histograms=tuple(one for one in found if one is not None),
            series=LoadSeries.read(written.inner("over_time")),
            notes=written.sentences("notes", _MOST_NOTES),
        )

    @property
    def error_count(self) -> int:
        return sum(count for _, count in self.errors)
