from __future__ import annotations

from assay.loadgen.colocation.build import build_objectives, build_scheduler
from assay.loadgen.colocation.config import PipelineConfig
from assay.loadgen.colocation.policies.pipeline_state import PipelineState
from assay.loadgen.colocation.policies.recent import Recent


def state_before(pipeline: PipelineConfig) -> PipelineState:
    """A pipeline before its processes are started: what its file says, and nothing measured."""
    nothing = float("nan")
    return PipelineState(
        name=pipeline.name,
        condition="waiting",
        until=pipeline.until,
        seconds=0.0,
        paused_s=0.0,
        asked_rate=build_scheduler(pipeline).rate,
        sent=0,
        completed=0,
        failed=0,
        in_flight=0,
        throughput=0.0,
        p50_s=nothing,
        p99_s=nothing,
        silent_s=0.0,
        objectives=Recent(build_objectives(pipeline), 1.0).objectives(0, 0),
        cpu_s=0.0,
        cpus_busy=0.0,
        rss_mb=0.0,
        gpu_pct=None,
        gpu_memory_mb=None,
        cpus=pipeline.cpus,
        device=pipeline.device,
    )
