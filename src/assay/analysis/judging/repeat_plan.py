from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, isfinite
from statistics import median

from assay.record import Record
from assay.stats.repeats import plan_repeats
from assay.stats.warmup import find_warmup

_SECONDS = {"s": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


@dataclass(frozen=True)
class RepeatPlan:
    """Where more repeats pay, for one metric that a program measures repeatedly within a run."""

    entry: str
    metric: str
    iterations: int
    runs: int
    within: float
    between: float

    def __str__(self) -> str:
        where = "between runs" if self.between > self.within else "within runs"
        return (
            f"{self.entry} {self.metric} varies {where} (within {self.within:.1%}, between {self.between:.1%}): "
            f"{self.iterations} iterations a run and `repeat: {self.runs}` give ±2% at the least cost"
        )


def repeat_plan(runs: Sequence[Record], metric: str) -> RepeatPlan | None:
    """None unless two runs or more have samples; iterations that are warm-up are left out of the pilot."""
    measured = [(run, run.metrics[metric]) for run in runs if metric in run.metrics]
    levels, costs, starts = [], [], []
    for run, item in measured:
        samples = [value for value in item.samples if isfinite(value)]
        kept = samples[find_warmup(samples).cut :] if samples else []
        if len(kept) < 2:
            continue
        scale = _SECONDS.get(item.unit or "", 0.0)
        # Without a unit of time, all of the run is taken as its iterations' cost.
        seconds = fsum(samples) * scale if scale else run.exec_time_s
        levels.append(kept)
        costs.append(max(seconds / len(samples), 1e-9))
        starts.append(max(run.exec_time_s - seconds, 1e-3))
    if len(levels) < 2:
        return None
    plan = plan_repeats(levels, run_cost=median(starts), iteration_cost=median(costs))
    return RepeatPlan(runs[0].name, metric, plan.iterations, plan.runs, plan.within, plan.between)
