"""aiperf (src/aiperf/metrics/types, 2025): responses without text are dropped; ITL is one mean a request, gaps between
responses are inter-chunk latency."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.loadgen.http.event_stream import Kind
from assay.loadgen.load_result import Ints
from assay.loadgen.serving.load_point import LoadPoint


@dataclass(frozen=True)
class EventBounds:
    """First and last event of each answered request that holds one of some kinds, and all gaps between such events.

    Nanoseconds; `request` is the place of each in the run. Requests without such an event are left out.
    """

    request: Ints
    first: Ints
    last: Ints
    gaps: Ints

    @classmethod
    def of(cls, point: LoadPoint, kinds: Kind) -> EventBounds:
        deltas = point.replies.deltas
        empty = np.empty(0, np.int64)
        if deltas is None:
            return cls(empty, empty, empty, empty)
        streamed = point.exchanges.rows["event_stream"] == 1
        rows = deltas.rows
        rows = rows[(rows["kind"] & int(kinds) != 0) & (streamed & point.times.good)[rows["request"]]]
        request, start = np.unique(rows["request"], return_index=True)
        end = np.append(start[1:], len(rows)) - 1
        same = np.diff(rows["request"]) == 0
        return cls(request.astype(np.int64), rows["ns"][start], rows["ns"][end], np.diff(rows["ns"])[same])


@dataclass(frozen=True)
class ToolFigure:
    """One quantity as another tool defines and names it, in nanoseconds."""

    name: str
    values: NDArray[Any]

    @property
    def mean_ms(self) -> float:
        return float(np.mean(self.values)) / 1e6 if len(self.values) else float("nan")

    def percentile_ms(self, percent: float) -> float:
        """Percentile in milliseconds, interpolated between two values, as numpy does and as these tools use it."""
        return float(np.percentile(self.values, percent)) / 1e6 if len(self.values) else float("nan")


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


# guidellm (src/guidellm/schemas/request_stats.py, 2025): TPOT spreads the whole time over all tokens, the first too;
# ITL is one mean a request.


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


# `vllm bench serve` (vllm/benchmarks/serve.py and lib/endpoint_request_func.py, 2025).
#
# Time starts at the send, after the wait for a place in flight. The first chunk counts as the first token, though it
# may
# hold a role only; the last chunk, usage included, ends the latency.

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


TOOLS: Final[Mapping[str, Callable[[LoadPoint], list[ToolFigure]]]] = {
    "vllm": vllm_figures,
    "guidellm": guidellm_figures,
    "aiperf": aiperf_figures,
}
_PERCENTS = (50, 95, 99)


def tool_text(tool: str, point: LoadPoint) -> str:
    """The run under another tool's definitions: from the send, of the answered requests."""
    lines = [f"As {tool} defines it (from the send, ms):"]
    lines.append(f"  {'':<45}{'mean':>8}" + "".join(f"{f'p{percent}':>8}" for percent in _PERCENTS))
    for figure in TOOLS[tool](point):
        marks = [figure.mean_ms, *(figure.percentile_ms(percent) for percent in _PERCENTS)]
        lines.append(f"  {figure.name:<45}" + "".join(f"{_format_ms(mark):>8}" for mark in marks))
    return "\n".join(lines)


def _format_ms(ms: float) -> str:
    return f"{ms:.4g}" if ms == ms else "–"
