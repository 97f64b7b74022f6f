"""guidellm (src/guidellm/schemas/request_stats.py, 2025): TPOT spreads the whole time over all tokens, the first too;
ITL is one mean a request."""

from __future__ import annotations

import numpy as np

from assay.loadgen.http.reading.deltas import Kind
from assay.loadgen.serving.definitions.event_bounds import EventBounds
from assay.loadgen.serving.definitions.tool_figure import ToolFigure
from assay.loadgen.serving.measured.load_point import LoadPoint


def guidellm_figures(point: LoadPoint) -> list[ToolFigure]:
    rows, tokens = point.exchanges.rows, point.times.output_tokens
    good = np.flatnonzero(point.times.good)
    words = EventBounds.of(point, Kind.CONTENT | Kind.REASONING | Kind.TOOL)
    sent, count = rows["sent_ns"][words.request], tokens[words.request]
    any_token, several = count > 0, count > 1
    return [
        ToolFigure("Time to first token", words.first - sent),
        ToolFigure("Time per output token", (words.last - sent)[any_token] / count[any_token]),
        ToolFigure("Inter-token latency", (words.last - words.first)[several] / (count[several] - 1)),
        ToolFigure("Request latency", (rows["end_ns"] - rows["sent_ns"])[good]),
    ]
