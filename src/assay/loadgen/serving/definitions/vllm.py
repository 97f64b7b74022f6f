"""`vllm bench serve` (vllm/benchmarks/serve.py and lib/endpoint_request_func.py, 2025).

Time starts at the send, after the wait for a place in flight. The first chunk counts as the first token, though it may
hold a role only; the last chunk, usage included, ends the latency.
"""

from __future__ import annotations

import numpy as np

from assay.loadgen.http.reading.deltas import Kind
from assay.loadgen.serving.definitions.event_bounds import EventBounds
from assay.loadgen.serving.definitions.tool_figure import ToolFigure
from assay.loadgen.serving.measured.load_point import LoadPoint

_CHOICES = Kind.ROLE | Kind.CONTENT | Kind.REASONING | Kind.TOOL | Kind.FINISH


def vllm_figures(point: LoadPoint) -> list[ToolFigure]:
    rows, tokens = point.exchanges.rows, point.times.output_tokens
    good = np.flatnonzero(point.times.good)
    chunks = EventBounds.of(point, _CHOICES)
    ends = EventBounds.of(point, _CHOICES | Kind.USAGE)
    sent = rows["sent_ns"][chunks.request]
    ttft = chunks.first - sent
    latency = (
        ends.last - rows["sent_ns"][ends.request] if len(ends.request) else (rows["end_ns"] - rows["sent_ns"])[good]
    )
    several = tokens[chunks.request] > 1
    spent = (ends.last[np.isin(ends.request, chunks.request)] - sent - ttft)[several]
    tpot = spent / (tokens[chunks.request][several] - 1)
    return [
        ToolFigure("Time to First Token (TTFT)", ttft),
        ToolFigure("Time per Output Token (TPOT, excl. 1st token)", tpot),
        ToolFigure("Inter-token Latency (ITL)", chunks.gaps),
        ToolFigure("End-to-end Latency (E2EL)", latency),
    ]
