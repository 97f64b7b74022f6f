from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.loadgen.http.exchanges import Exchanges
from assay.loadgen.serving.load_asked import LoadAsked
from assay.loadgen.serving.measured.delivered_load import DeliveredLoad, measure_delivered_load
from assay.loadgen.serving.measured.load_verdict import LoadVerdict, load_verdict
from assay.loadgen.serving.measured.request_times import RequestTimes
from assay.loadgen.serving.measured.saturation import Saturation
from assay.loadgen.serving.measured.serving_objective import ObjectiveResult
from assay.loadgen.serving.measured.token_counts import TokenCounts
from assay.loadgen.serving.replies.replies import Replies

NOT_ERRORS = ("", "cancelled")
OF_THE_STOP = ("unfinished", "never_sent")
"""Faults of requests that a stopped run leaves behind: nobody waited for them any longer."""


@dataclass(frozen=True)
class LoadPoint:
    """One load on one endpoint, measured: a whole run, or one rate of a sweep."""

    asked: LoadAsked
    exchanges: Exchanges
    replies: Replies
    tokens: TokenCounts
    saturation: Saturation | None = None
    ceiling: float | None = None
    """Requests a second that the client gets through here at most, all its processes."""
    warmup: int = 0
    """Requests sent before, in no figure."""
    notes: tuple[str, ...] = ()
    stopped: bool = False
    """It was ended before its time."""

    @cached_property
    def times(self) -> RequestTimes:
        return RequestTimes(self.exchanges, self.replies, self.tokens.output)

    @cached_property
    def duration_s(self) -> float:
        """Seconds from the start to the end of the last request."""
        rows = self.exchanges.rows
        return max((int(rows["end_ns"].max()) - self.exchanges.start_ns) / 1e9, 1e-9) if len(rows) else 0.0

    @cached_property
    def delivered(self) -> DeliveredLoad:
        return measure_delivered_load(self.exchanges, self.asked.closed_places, self.asked.cap)

    @property
    def answered(self) -> int:
        return int(self.times.good.sum())

    @cached_property
    def errors(self) -> Mapping[str, int]:
        """Number of errors by kind."""
        apart = (*NOT_ERRORS, *(OF_THE_STOP if self.saturation or self.stopped else ()))
        return dict(sorted(Counter(kind for kind in self.replies.failures if kind not in apart).items()))

    @property
    def error_count(self) -> int:
        return sum(self.errors.values())

    @cached_property
    def objectives(self) -> tuple[ObjectiveResult, ...]:
        return tuple(objective.judge(self.times, self.error_count) for objective in self.asked.objectives)

    @property
    def objectives_met(self) -> bool:
        return all(result.met for result in self.objectives) and not self.saturation

    @cached_property
    def cpu_share(self) -> float:
        return self.exchanges.cpu_s / self.duration_s if self.duration_s else float("nan")

    @cached_property
    def verdict(self) -> LoadVerdict:
        rate = self.answered / self.duration_s if self.duration_s else 0.0
        share = self.cpu_share / self.asked.processes
        return load_verdict(self.delivered, share, rate, self.ceiling, self.saturation, self.failed)

    @cached_property
    def failed(self) -> str:
        """Why there is nothing to measure; empty where at least one request was answered."""
        if self.answered:
            return ""
        if not len(self.replies.failures):
            return "no request was sent"
        kind, count = Counter(self.replies.failures).most_common(1)[0]
        message = next((said for said, why in zip(self.replies.messages, self.replies.failures, strict=True)
                        if why == kind and said), "")  # fmt: skip
        return f"none of {len(self.replies.failures)} requests was answered; {count} × {kind}" + (
            f": {message}" if message else ""
        )

    @cached_property
    def met(self) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Requests that were answered within every objective."""
        met = self.times.good.copy()
        for objective in self.asked.objectives:
            met &= objective.find_met(self.times)
        return met
