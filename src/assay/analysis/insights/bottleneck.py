from __future__ import annotations

from collections.abc import Iterator
from math import fsum, isfinite

from assay.analysis.insights.insight import EntryRuns, Insight
from assay.analysis.insights.run_share import LEAST, wall_seconds
from assay.record import TaskPerfUtils

SHARE = 0.5
_TIMES = ("process_time", "wall_time", "duration", "cpu_time")


def bottleneck(entry: EntryRuns) -> Iterator[Insight]:
    """One stage takes more than half of the time of all stages, and enough of the run's to matter."""
    stages = TaskPerfUtils.collect_stage_metrics([task for run in entry.runs for task in run.tasks])
    seconds = {stage: total for stage, metrics in stages.items() if (total := _total(metrics)) > 0}
    everything = fsum(seconds.values())
    if len(seconds) < 2 or everything <= 0:
        return
    slowest = max(seconds, key=lambda stage: seconds[stage])
    share, wall = seconds[slowest] / everything, wall_seconds(entry)
    # Stages that ran at the same time add up to more than the clock: their sum is then all that is known of the whole.
    of_run = seconds[slowest] / max(wall, everything)
    if share < SHARE or of_run < LEAST:
        return
    calls = max((len(values) for values in stages[slowest].values()), default=0)
    # Amdahl: with this stage twice as fast, all of it would take so much less, what no stage accounts for included.
    gain = 1 / (1 - of_run / 2)
    beside = f"; the runs took {wall:.3g} s" if wall > everything else ""
    whole = f"the whole would be {'' if wall > everything else 'at most '}{gain:.2f} times as fast"
    yield Insight(
        "bottleneck", entry.name, f"stage {slowest} takes {share:.0%} of the time of all {len(seconds)} stages",
        f"{seconds[slowest]:.3g} s of {everything:.3g} s in {calls} calls{beside}",
        f"make {slowest} faster or give it more workers: twice as fast, {whole}; any other stage matters less",
        numbers={"share": share, "seconds": seconds[slowest], "gain_if_twice_as_fast": gain},
    )  # fmt: skip


def _total(metrics: dict[str, list[float]]) -> float:
    values = next((metrics[name] for name in _TIMES if name in metrics), [])
    return fsum(value for value in values if isfinite(value) and value > 0)
