from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.loadgen.colocation.colocation import PipelineOutcome
from assay.loadgen.measured import Ints

MOST_LANES = 400

Lane = tuple[int, float, float, int, float]
"""Stage, begin and end in seconds from the release, calls, and seconds in which a call was under way."""


def lanes(pipeline: PipelineOutcome, release: int) -> list[Lane]:
    """When each stage was busy, for drawing: spans with little time between them are one."""
    rows = pipeline.result.measured.rows
    spans = []
    for stage in pipeline.result.stages:
        calls = rows[rows["stage"] == stage]
        calls = calls[np.argsort(calls["start"], kind="stable")]
        if len(calls):
            spans.append((stage, np.asarray(calls["start"]), np.asarray(calls["end"])))
    if not spans:
        return []
    gap = max((int(ends.max()) for _, _, ends in spans)) - min(int(starts[0]) for _, starts, _ in spans)
    gap //= 1 << 20
    while sum(_count(starts, ends, gap) for _, starts, ends in spans) > max(MOST_LANES, len(spans)):
        gap = 2 * gap + 1
    return [lane for stage, starts, ends in spans for lane in _merge(stage, starts, ends, gap, release)]


def _furthest_ends(ends: Ints) -> Ints:
    return np.asarray(np.maximum.accumulate(ends))


def _count(starts: Ints, ends: Ints, gap: int) -> int:
    return 1 + int((starts[1:] > _furthest_ends(ends)[:-1] + gap).sum())


def _merge(stage: int, starts: Ints, ends: Ints, gap: int, release: int) -> Sequence[Lane]:
    reached = _furthest_ends(ends)
    first = np.concatenate([[0], 1 + np.flatnonzero(starts[1:] > reached[:-1] + gap)])
    last = np.concatenate([first[1:], [len(starts)]]) - 1
    # Time that a call adds to what earlier calls have covered.
    before = np.concatenate([[np.iinfo(np.int64).min], reached[:-1]])
    busy = np.cumsum(np.maximum(reached - np.maximum(starts, before), 0))
    busy_of = busy[last] - np.concatenate([[0], busy[last[:-1]]])
    return [
        (stage, _t(starts[a], release), _t(reached[b], release), int(b - a + 1), round(int(spent) / 1e9, 6))
        for a, b, spent in zip(first, last, busy_of, strict=True)
    ]


def _t(clock: int, release: int) -> float:
    return round((int(clock) - release) / 1e9, 6)
