from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """How much of each entry a page shows. What is left out is said, and is on disk."""

    points: int = 150
    log_lines: int = 40
    metrics: int = 80
    bins: int = 40
    plots: int = 4
    """Of what a run used: processor and memory first."""


MOST_BYTES = 500_000
"""Of a report. It is mailed and kept by the hundred."""

STEPS = (Limits(), Limits(100, 25, 50, 30), Limits(60, 12, 25, 24), Limits(40, 6, 12, 16), Limits(40, 4, 8, 12, 2))
"""Tried in order until the page is small enough."""

MOST_INSIGHTS = 20
