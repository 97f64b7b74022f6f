from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from assay.record.metric import Metric

MOST_SAMPLES = 2000


@dataclass(frozen=True)
class StageReport:
    """What a stage says of itself, beside the times that were taken of it."""

    metrics: tuple[Metric, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def joined(cls, workers: Sequence[Self]) -> StageReport:
        """One for all workers of a stage: figures of several are told apart by the worker's number."""
        notes = tuple(dict.fromkeys(note for one in workers for note in one.notes))
        if len(workers) == 1:
            return StageReport(workers[0].metrics, notes)
        named = (
            Metric(f"worker_{n}.{m.name}", m.value, m.unit, m.better, m.samples, m.exact)
            for n, one in enumerate(workers)
            for m in one.metrics
        )
        return StageReport(tuple(named), notes)

    def to_json(self) -> dict[str, Any]:
        return {"metrics": {m.name: _thin(m).to_json() for m in self.metrics}, "notes": list(self.notes)}

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> StageReport:
        metrics = tuple(Metric.parse(name, value) for name, value in written["metrics"].items())
        return StageReport(metrics, tuple(written["notes"]))


def _thin(metric: Metric) -> Metric:
    """The metric with every n-th sample only, in order: files that are kept for ever must be small."""
    step = -(-len(metric.samples) // MOST_SAMPLES) or 1
    return Metric(metric.name, metric.value, metric.unit, metric.better, metric.samples[::step], metric.exact)
