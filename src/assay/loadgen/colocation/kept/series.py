from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from assay.loadgen.colocation.colocation import PipelineOutcome
from assay.loadgen.measured import Ints

MOST_POINTS = 120
_ANSWERS_A_POINT = 5
"""Fewest answers in a point, on the average: a rate of fewer is noise."""


def series(pipeline: PipelineOutcome, release: int) -> dict[str, list[Any]]:
    """Throughput, latency and queries in flight over the whole run, at the ends of equal steps of time."""
    queries = pipeline.result.measured.queries
    ends = np.asarray(queries["end"])
    points = int(np.clip(len(ends) // _ANSWERS_A_POINT, 1, MOST_POINTS))
    if not len(ends):
        return {name: [] for name in ("t", "throughput", "p50_us", "p99_us", "in_flight")}
    at = np.linspace(pipeline.result.started_at, int(ends[-1]), points + 1)
    cuts = np.searchsorted(ends, at, side="right")
    cuts[0] = 0
    latency = np.asarray(queries["end"] - queries["intended"])
    parts = [latency[a:b] for a, b in pairwise(cuts.tolist())]
    seconds = max(float(at[1] - at[0]) / 1e9, 1e-9)
    return {
        "t": [round((float(time) - release) / 1e9, 6) for time in at[1:]],
        "throughput": [float(f"{len(part) / seconds:.6g}") for part in parts],
        "p50_us": [_at(part, 0.5) for part in parts],
        "p99_us": [_at(part, 0.99) for part in parts],
        "in_flight": _in_flight(np.sort(queries["start"]), ends, at[1:].astype(np.int64)).tolist(),
    }


def _in_flight(starts: Ints, ends: Ints, at: Ints) -> Ints:
    """Queries in flight at each time, counting only those that were answered later."""
    return np.asarray(np.searchsorted(starts, at, side="right") - np.searchsorted(ends, at, side="right"))


def _at(values: Ints, share: float) -> float | None:
    if not len(values):
        return None
    return float(f"{float(np.quantile(values, share, method='inverted_cdf')) / 1e3:.6g}")
