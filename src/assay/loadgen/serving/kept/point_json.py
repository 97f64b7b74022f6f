from __future__ import annotations

from math import isfinite
from typing import Any

from assay.loadgen.serving.measured.load_over_time import load_over_time
from assay.loadgen.serving.measured.load_point import LoadPoint
from assay.loadgen.serving.measured.point_metrics import point_metrics
from assay.loadgen.serving.measured.quantile import quantiles
from assay.loadgen.serving.measured.quantities import TIMES
from assay.loadgen.serving.measured.time_bins import time_bins

_SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}


def point_json(point: LoadPoint, label: str = "", valid: bool | None = None) -> dict[str, Any]:
    """One load, as `points` of serving.json have it."""
    verdict = point.verdict
    return {
        "label": label or point.asked.words,
        "asked": point.asked.to_json(),
        "delivered": {
            "rate": finite(point.delivered.rate),
            "in_flight": finite(point.delivered.in_flight),
            "share": finite(point.delivered.share),
            "scheduled": point.delivered.scheduled,
            "sent": point.delivered.sent,
            "held_back": point.delivered.held_back,
            "lateness_s_p50": finite(point.delivered.lateness_p50 / 1e9),
            "lateness_s_p99": finite(point.delivered.lateness_p99 / 1e9),
        },
        "verdict": {
            "valid": verdict.of_server and point.objectives_met if valid is None else valid,
            "of_server": verdict.of_server,
            "client_bottleneck": verdict.client_bottleneck,
            "undelivered": verdict.undelivered,
            "saturated": verdict.saturated,
            "failed": verdict.failed,
        },
        "objectives": [
            {"objective": result.objective.words, "met": result.met, "sure": result.sure, "over": result.over,
             "total": result.total, "reason": result.reason}
            for result in point.objectives
        ],
        "duration_s": point.duration_s,
        "warmup_requests": point.warmup,
        "client": {"name": point.exchanges.client, "cpu_share": finite(point.cpu_share), "ceiling": point.ceiling},
        "counted_by": point.tokens.source,
        "metrics": {metric.name: finite(metric.value) for metric in point_metrics(point)},
        "errors": dict(point.errors),
        "histograms": {name: _histogram(point, name) for name in TIMES if len(point.times.values(name))},
        "over_time": load_over_time(point.times).to_json(),
        "notes": [*point.notes, *point.exchanges.notes],
    }  # fmt: skip


def _histogram(point: LoadPoint, name: str) -> dict[str, Any]:
    values = point.times.values(name)
    marks = dict(zip(_SHARES, quantiles(values, list(_SHARES.values())), strict=True))
    return {**time_bins(values), "quantiles_s": {share: at / 1e9 for share, at in marks.items()}, "count": len(values)}


def finite(value: Any) -> Any:
    """None for what was not measured: readers of other languages know no NaN."""
    return None if isinstance(value, float) and not isfinite(value) else value
