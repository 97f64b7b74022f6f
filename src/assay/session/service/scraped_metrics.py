from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Any

from assay.session.service.metrics_page import SeriesName

MOST_METRICS = 40
QUEUES_AND_CACHES = (
    "*running*", "*waiting*", "*queue*", "*requests_processing", "*requests_deferred", "*batch*size*",
    "*cache*usage*", "*cache_hit*", "*prefix_cache*", "*token_usage", "*preemption*",
)  # fmt: skip
"""What vLLM, SGLang, TGI and llama.cpp call their queues and caches, for a service that names nothing."""


def summarise_readings(readings: Mapping[SeriesName, Sequence[float]], names: Sequence[str]) -> dict[str, Any]:
    """Service metrics: mean and highest reading of a gauge, increase of a counter; at most `MOST_METRICS` values."""
    wanted = tuple(names) or QUEUES_AND_CACHES
    chosen = {
        series: values
        for series, values in readings.items()
        if values and any(fnmatchcase(series.name, pattern) for pattern in wanted)
    }
    metrics: dict[str, Any] = {}
    for series, values in chosen.items():
        name = f"service_{_word(series, [other for other in chosen if other.name == series.name])}"
        if series.kind == "counter":
            metrics[f"{name}_increase"] = increase(values)
        else:
            metrics[f"{name}_mean"] = sum(values) / len(values)
            metrics[f"{name}_max"] = max(values)
        if len(metrics) >= MOST_METRICS:
            break
    return metrics


def increase(values: Sequence[float]) -> float:
    """What a counter has gained; one that was reset to 0 has gained what it shows since."""
    return sum(after - before if after >= before else after for before, after in pairwise(values))


def _word(series: SeriesName, alike: list[SeriesName]) -> str:
    """The name; where several series have it, with the labels in which they differ."""
    shared = set.intersection(*(set(other.labels) for other in alike))
    own = [f"{key}_{value}" for key, value in series.labels if (key, value) not in shared]
    return re.sub(r"[^A-Za-z0-9_]+", "_", "_".join([series.name, *own])).strip("_").lower()
