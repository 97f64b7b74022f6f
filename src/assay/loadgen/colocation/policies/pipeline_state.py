from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assay.loadgen.latency.objective import Objective

Condition = Literal["waiting", "running", "paused", "ended"]


@dataclass(frozen=True)
class ObjectiveState:
    """How one objective of a pipeline is kept. Times are in seconds."""

    objective: Objective
    recent_s: float
    """The objective's percentile over the policy's window; NaN where nothing was answered in it."""
    newest_s: tuple[float, ...]
    """What the newest answers took, oldest first, at most 32."""
    newest_t: tuple[float, ...]
    """When each of them came, in seconds from the release."""
    missed: int
    """Answers since the start that took longer than the objective allows."""
    judged: int
    """Answers since the start that the objective applies to."""


@dataclass(frozen=True)
class PipelineState:
    """One pipeline as a policy sees it. Recent figures are of the last `Policy.window_s` seconds."""

    name: str
    condition: Condition
    """`waiting`: not released yet; `paused`: all its processes stand still."""
    until: Literal["own", "others_end"]
    """What ends it: its own load, or the end of the others."""
    seconds: float
    """Seconds since its own start, pauses included; 0 before it."""
    paused_s: float
    """Seconds it has stood still, in all."""
    asked_rate: float | None
    """Queries a second that its schedule asks for; None where the pipeline sets the pace."""
    sent: int
    completed: int
    failed: int
    in_flight: int
    throughput: float
    """Recent answers a second."""
    p50_s: float
    """Recent median latency from the intended time; NaN where nothing was answered."""
    p99_s: float
    silent_s: float
    """Seconds for which a query has been under way and nothing was answered, at least; 0 while it is paused."""
    objectives: tuple[ObjectiveState, ...]
    cpu_s: float
    """CPU time of all its processes since they were started, set-up included. This and what follows is sampled twice a
    second."""
    cpus_busy: float
    """Processors kept busy between the last two samples."""
    rss_mb: float
    """Memory of all its processes."""
    gpu_pct: float | None
    """Share of GPUs' processors that its own processes take, 100 being one GPU; None where no GPU tells."""
    gpu_memory_mb: float | None
    """Memory of GPUs that they hold; None where no GPU tells."""
    cpus: tuple[int, ...]
    """Processors it was placed on; empty: any."""
    device: str | None
    """What it was given: `cpu`, `cuda:0`; None: its stages choose."""
