from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assay.stats.early_stopping import min_passing, within_bound

Of = Literal["latency", "first_result", "per_item"]
Nanoseconds = NDArray[np.int64]


@dataclass(frozen=True)
class Objective:
    """`percentile` of the queries within `seconds`: 0.99 and 0.1 is "p99 at most 100 ms"."""

    percentile: float
    seconds: float
    of: Of = "latency"
    """Which time: from the intended send to the result, to the first item of a streamed one, or between its items."""

    def __post_init__(self) -> None:
        if not 0 < self.percentile < 1:
            raise ValueError(f"percentile must lie between 0 and 1 (0.99 for p99), not {self.percentile}")
        if not self.seconds > 0:
            raise ValueError(f"seconds must be greater than 0, not {self.seconds}")

    @property
    def name(self) -> str:
        return f"p{self.percentile * 100:g} of {self.of.replace('_', ' ')} within {self.seconds * 1e3:g} ms"


def queries_to_judge(percentile: float) -> int:
    """Number of queries with which a run that has half the allowed misses is certain to be valid."""
    over = 1
    while over / (min_passing(over, percentile) + over) < (1 - percentile) / 2:
        over += 1
    return min_passing(over, percentile) + over


@dataclass(frozen=True)
class ObjectiveJudgement:
    objective: Objective
    over: int
    total: int
    valid: bool
    reason: str
    """Empty when valid."""


def judge(objective: Objective, values: Nanoseconds, lost: int) -> ObjectiveJudgement:
    """Judges an objective. `lost`: number of queries that failed or never came back; they met no objective."""
    over = int(np.count_nonzero(values > objective.seconds * 1e9)) + lost
    total = len(values) + lost
    if total == 0:
        return ObjectiveJudgement(objective, over, total, False, f"{objective.name}: nothing was measured")
    if over > (1 - objective.percentile) * total:
        allowed = 1 - objective.percentile
        words = f"{objective.name}: {over} of {total} were over ({over / total:.2%}, allowed {allowed:.2%})"
        return ObjectiveJudgement(objective, over, total, False, words)
    if not within_bound(over, total, objective.percentile):
        words = f"{objective.name}: {over} of {total} were over, too few queries to be sure (MLPerf early stopping)"
        return ObjectiveJudgement(objective, over, total, False, words)
    return ObjectiveJudgement(objective, over, total, True, "")


@dataclass(frozen=True)
class Validity:
    """VALID or INVALID, why, and the goodput: queries a second that met every objective."""

    judgements: tuple[ObjectiveJudgement, ...]
    problems: tuple[str, ...]
    goodput: float

    @property
    def valid(self) -> bool:
        return not self.problems and all(judgement.valid for judgement in self.judgements)

    @property
    def reasons(self) -> list[str]:
        return [*self.problems, *(judgement.reason for judgement in self.judgements if judgement.reason)]

    def __str__(self) -> str:
        return "VALID" if self.valid else "INVALID: " + "; ".join(self.reasons)


def good(objectives: Sequence[Objective], values: dict[Of, Nanoseconds]) -> NDArray[np.bool_]:
    """Which queries met every objective. A query without a value for one (it did not stream) did not."""
    met = np.ones(len(values["latency"]), np.bool_)
    for objective in objectives:
        mine = values[objective.of]
        met &= (mine >= 0) & (mine <= objective.seconds * 1e9)
    return met
