"""What else happened on the machine while a run was measured. It explains a suspicious result; it changes none."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from assay.analysis.comparing.environment_difference import Difference
from assay.analysis.sentences.note_sentences import condition
from assay.analysis.sentences.side_names import SideNames
from assay.record import Record

STEAL = 0.02
NEIGHBOURS = 0.25
"""Processors that others kept busy."""
THROTTLED = 0.01


def disturbances(run: Record) -> list[str]:
    usage, found = run.usage, []
    wall = usage.wall_s or run.exec_time_s
    if usage.steal_share > STEAL:
        found.append(f"the hypervisor took {usage.steal_share:.0%} of the CPU time")
    if wall > 0 and usage.neighbour_cpu_s / wall > NEIGHBOURS:
        found.append(f"other processes kept {usage.neighbour_cpu_s / wall:.1f} CPUs busy")
    if wall > 0 and usage.throttled_s / wall > THROTTLED:
        found.append(f"its CPU quota held it back for {usage.throttled_s / wall:.0%} of the time")
    return found


def not_alone(run: Record) -> bool:
    """Others took what it could have had; its own quota is another matter."""
    return _share(run, "steal") > STEAL or _share(run, "neighbours") > NEIGHBOURS


def unequal_conditions(base: Sequence[Record], head: Sequence[Record], sides: SideNames) -> list[str]:
    return [
        condition(one.what, str(one.base), sides.base, str(one.head), sides.head)
        for one in load_differences(base, head)
    ]


def load_differences(base: Sequence[Record], head: Sequence[Record]) -> list[Difference]:
    """Busy against quiet. Said only where the sides differ: load that both had does not explain a difference."""
    found = []
    for name, threshold, words in (
        ("steal", STEAL, "CPU time taken by the hypervisor"),
        ("neighbours", NEIGHBOURS, "CPUs kept busy by other processes"),
        ("throttled", THROTTLED, "time held back by the CPU quota"),
    ):
        before, after = (_typical(side, name) for side in (base, head))
        if abs(after - before) > threshold and max(before, after) > 1.5 * min(before, after):
            show = "{:.1f}" if name == "neighbours" else "{:.0%}"
            found.append(Difference("load", words, show.format(before), show.format(after)))
    return found


def _typical(side: Sequence[Record], name: str) -> float:
    return median(_share(run, name) for run in side) if side else 0.0


def _share(run: Record, name: str) -> float:
    usage = run.usage
    wall = usage.wall_s or run.exec_time_s
    if name == "steal":
        return usage.steal_share
    if wall <= 0:
        return 0.0
    return (usage.neighbour_cpu_s if name == "neighbours" else usage.throttled_s) / wall
