from __future__ import annotations

from assay.loadgen.colocation.colocation import GroupOutcome
from assay.record.metric import Metric


def figure_lines(outcome: GroupOutcome) -> str:
    """What stages say of their own work, a stage a line; empty where none says anything."""
    lines = [
        f"  {p.config.name}, {id} {p.result.stages[id].name}: {', '.join(map(_format_metric, report.metrics))}"
        for p in outcome.pipelines
        for id, report in p.result.reports.items()
        if report.metrics
    ]
    return "\n".join(["what stages say of their own work", *lines]) if lines else ""


def _format_metric(metric: Metric) -> str:
    value = f"{metric.value:.4g}" if isinstance(metric.value, float) else str(metric.value)
    return f"{metric.name} {value}"
