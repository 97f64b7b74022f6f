"""aiperf (src/aiperf/metrics/types, 2025): responses without text are dropped; ITL is one mean a request, gaps between
responses are inter-chunk latency."""

from __future__ import annotations

import numpy as np

from assay.loadgen.http.reading.deltas import Kind
from assay.loadgen.serving.definitions.event_bounds import EventBounds
from assay.loadgen.serving.definitions.tool_figure import ToolFigure
from assay.loadgen.serving.measured.load_point import LoadPoint


def aiperf_figures(point: LoadPoint) -> list[ToolFigure]:
    rows, tokens = point.exchanges.rows, point.times.output_tokens
    good = np.flatnonzero(point.times.good)
    words = EventBounds.of(point, Kind.CONTENT | Kind.REASONING | Kind.TOOL)
    sent, count = rows["sent_ns"][words.request], tokens[words.request]
    several = count > 1
    latency = words.last - sent if len(words.request) else (rows["end_ns"] - rows["sent_ns"])[good]
    return [
        ToolFigure("Time to First Token", words.first - sent),
        ToolFigure("Inter Token Latency", (words.last - words.first)[several] / (count[several] - 1)),
        ToolFigure("Inter Chunk Latency", words.gaps),
        ToolFigure("Request Latency", latency),
    ]
