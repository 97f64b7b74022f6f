from __future__ import annotations

from collections.abc import Iterator
from math import fsum, isfinite

from assay.analysis.insights.insight import EntryRuns, Insight
from assay.record import TaskPerfUtils

SHARE = 0.5
_TIMES = ("process_time", "wall_time", "duration", "cpu_time")


def bottleneck(entry: EntryRuns) -> Iterator[Insight]:
    """One stage takes more than half of the time of all stages."""
    stages = TaskPerfUtils.collect_stage_metrics([task for run in entry.runs for task in run.tasks])
    seconds = {stage: total for stage, metrics in stages.items() if (total := _total(metrics)) > 0}
    everything = fsum(seconds.values())
    if len(seconds) < 2 or everything <= 0:
        return
    slowest = max(seconds, key=lambda stage: seconds[stage])
    share = seconds[slowest] / everything
    if share < SHARE:
        return
    # Amdahl: with this stage twice as fast, all of it would take so much less.
    gain = 1 / (1 - share / 2)
    calls = max((len(values) for values in stages[slowest].values()), default=0)
    yield Insight(
        "bottleneck", entry.name, f"stage {slowest} takes {share:.0%} of the time of all {len(seconds)} stages",
        f"{seconds[slowest]:.3g} s of {everything:.3g} s in {calls} calls",
        f"make {slowest} faster or give it more workers: twice as fast, the whole would be {gain:.2f} times as fast; "
        "any other stage matters less",
        numbers={"share": share, "seconds": seconds[slowest], "gain_if_twice_as_fast": gain},
    )  # fmt: skip


def _total(metrics: dict[str, list[float]]) -> float:
    values = next((metrics[name] for name in _TIMES if name in metrics), [])
    return fsum(value for value in values if isfinite(value) and value > 0)
