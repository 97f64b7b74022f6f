"""`metrics.json`, and beside it `metrics_detail.json` for what plain values do not say.

A count stays a plain number in `metrics.json`, where any reader finds it; that it is exact stands in the second file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from assay.record.metric import Metric

VALUES = "metrics.json"
DETAILS = "metrics_detail.json"


def apart(metrics: Iterable[Metric]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What goes into the one file and into the other."""
    values: dict[str, Any] = {}
    details: dict[str, Any] = {}
    for metric in metrics:
        plain = replace(metric, exact=False, margin=None).to_json()
        if plain is metric.value and (metric.exact or metric.margin is not None):
            values[metric.name] = plain
            details[metric.name] = {key: item for key, item in metric.to_json().items() if key != "value"}
        else:
            values[metric.name] = metric.to_json()
    return values, details


def together(values: Mapping[str, Any], details: Mapping[str, Any]) -> dict[str, Any]:
    """One object a metric that has details; where both files say something, `metrics.json` is right."""
    joined = dict(values)
    for name, detail in details.items():
        if name not in joined or not isinstance(detail, Mapping):
            continue
        value = joined[name]
        known = value if isinstance(value, Mapping) and "value" in value else {"value": value}
        joined[name] = {**detail, **known}
    return joined
