"""`metrics.json` with plain values, and beside it `metrics_detail.json` with what they do not say.

Any reader finds a number where it expects one; unit, direction, samples and the rest stand in the second file. What
others write may have both in one: `{"value": 2.5, "unit": "s"}` instead of 2.5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from assay.record.metric import Metric

VALUES = "metrics.json"
DETAILS = "metrics_detail.json"


def apart(metrics: Iterable[Metric]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What goes into the one file and into the other."""
    return plain({metric.name: metric.to_json() for metric in metrics}, {})


def plain(values: Mapping[str, Any], details: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both files' contents with every value plain; where both say something, `metrics.json` is right."""
    bare, more = dict(values), dict(details)
    for name, written in values.items():
        # A value that looks like a metric itself would be taken for one if it stood alone.
        if _is_metric(written) and not _is_metric(written["value"]):
            bare[name] = written["value"]
            said = {key: item for key, item in written.items() if key != "value"}
            known = details.get(name)
            if detail := {**(known if isinstance(known, Mapping) else {}), **said}:
                more[name] = detail
    return bare, more


def together(values: Mapping[str, Any], details: Mapping[str, Any]) -> dict[str, Any]:
    """One object a metric that has details; where both files say something, `metrics.json` is right."""
    joined = dict(values)
    for name, detail in details.items():
        if name not in joined or not isinstance(detail, Mapping):
            continue
        value = joined[name]
        known = value if _is_metric(value) else {"value": value}
        joined[name] = {**detail, **known}
    return joined


def _is_metric(written: Any) -> bool:
    return isinstance(written, Mapping) and "value" in written
