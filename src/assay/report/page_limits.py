from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PageLimits:
    """How much of each entry a page shows. What is left out is said, and is on disk."""

    points: int = 150
    log_lines: int = 40
    metrics: int = 80
    bins: int = 40
    plots: int = 4
    """Charts of what a run used: processor and memory first."""
    runs: int = 40
    """Runs of pipelines beside each other that are drawn as they went."""
    rounds: int = 2
    """Rounds of one group, among these runs."""
    series: int = 3
    """Charts over time of one pipeline in such a run: latency, throughput, queries in flight."""
    spans: int = 400
    """Bars of a pipeline on a time line."""
    stages: int = 40
    """Stages of a pipeline in a group, those that take longest."""
    moved: int = 60
    """Metrics that changed and are drawn as they were and are."""


MOST_BYTES = 500_000
"""Most bytes of a report: it is mailed, and kept by the hundred."""

STEPS = (
    PageLimits(),
    PageLimits(100, 25, 50, 30, 4, 24, 1, 2, 250, 30),
    PageLimits(60, 12, 25, 24, 4, 24, 1, 1, 120, 20),
    PageLimits(40, 6, 12, 16, 4, 12, 1, 1, 60, 12, 30),
    PageLimits(40, 12, 25, 16, 2, 12, 1, 1, 60, 12, 30),
    PageLimits(30, 5, 8, 12, 2, 1, 1, 1, 40, 5, 15),
    PageLimits(30, 5, 5, 10, 1, 1, 1, 1, 40, 5, 10),
)
"""Tried in order until the page is small enough."""

MOST_INSIGHTS = 20
"""Most groups of insights on a page."""
