from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from assay.loadgen.colocation.colocation import GroupOutcome
from assay.loadgen.colocation.slowdown.answers import Answers
from assay.loadgen.colocation.slowdown.round_contrast import RoundContrast, TooLittle, mean_ratio, percentile_ratio
from assay.loadgen.colocation.slowdown.round_ratio import RoundRatio
from assay.loadgen.colocation.slowdown.slowdown import Slowdown, What
from assay.loadgen.measured import Ints

PERCENTILES: tuple[What, ...] = ("p50", "p99")


@dataclass(frozen=True)
class Contrast:
    """One pipeline alone and beside others, over all rounds: figures, distributions and slowdowns of one window."""

    pipeline: str
    beside: tuple[str, ...]
    rounds: tuple[RoundContrast, ...]
    problem: str = ""
    """Why nothing can be compared; then there are no rounds."""

    @classmethod
    def of(
        cls, pipeline: str, beside: Sequence[str], alone: Sequence[GroupOutcome], together: Sequence[GroupOutcome]
    ) -> Contrast:
        if not alone or not together:
            return cls(pipeline, tuple(beside), (), "it was not run both alone and beside them")
        if not all(outcome.success for outcome in (*alone, *together)):
            return cls(pipeline, tuple(beside), (), "a run of it, or of what ran beside it, did not end well")
        rounds = []
        # A round that has only one of the two runs is not compared.
        for solo, group in zip(alone, together, strict=False):
            mine = Answers.of(group[pipeline])
            window = (float(group.window[0] - mine.started_at), float(group.window[1] - mine.started_at))
            rounds.append(RoundContrast(Answers.of(solo[pipeline]), mine, window))
        return cls(pipeline, tuple(beside), tuple(rounds))

    @property
    def seconds(self) -> float:
        """Length of the compared window beside the others, mean of the rounds."""
        spans = [one.window_beside[1] - one.window_beside[0] for one in self.rounds]
        return float(np.mean(spans)) / 1e9 if spans else 0.0

    @property
    def paired(self) -> bool:
        return all(one.paired for one in self.rounds)

    @cached_property
    def latencies(self) -> tuple[Ints, Ints]:
        return _join([one.latencies for one in self.rounds])

    @cached_property
    def stages(self) -> dict[int, tuple[Ints, Ints]]:
        """Call times by stage id, alone and beside."""
        ids = self.rounds[0].beside.result.stages if self.rounds else ()
        return {stage: _join([one.stages[stage] for one in self.rounds]) for stage in ids}

    @cached_property
    def slowdowns(self) -> tuple[Slowdown, ...]:
        return tuple(self._slowdowns())

    def _slowdowns(self) -> Iterator[Slowdown]:
        yield self._slowdown("throughput", None, RoundContrast.throughput)
        for what in PERCENTILES:
            yield self._slowdown(what, None, partial(_latency, what=what))
        for stage, (alone, beside) in self.stages.items():
            if not len(alone) and not len(beside):
                continue
            yield self._slowdown("mean", stage, partial(_mean, stage=stage))
            for what in PERCENTILES:
                yield self._slowdown(what, stage, partial(_percentile, stage=stage, what=what))

    def _slowdown(self, what: What, stage: int | None, ratio: Callable[[RoundContrast], RoundRatio]) -> Slowdown:
        try:
            return Slowdown(what, stage, tuple(ratio(one) for one in self.rounds), self.problem)
        except TooLittle as reason:
            return Slowdown(what, stage, (), str(reason))

    def slowdown(self, what: What, stage: int | None = None) -> Slowdown:
        return next(one for one in self.slowdowns if (one.what, one.stage) == (what, stage))


def _latency(one: RoundContrast, what: str) -> RoundRatio:
    return percentile_ratio(*one.latencies, what)


def _mean(one: RoundContrast, stage: int) -> RoundRatio:
    return mean_ratio(*one.stages[stage])


def _percentile(one: RoundContrast, stage: int, what: str) -> RoundRatio:
    return percentile_ratio(*one.stages[stage], what, "calls")


def _join(rounds: Sequence[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    empty = np.empty(0, np.int64)
    return (
        np.concatenate([empty, *(alone for alone, _ in rounds)]),
        np.concatenate([empty, *(beside for _, beside in rounds)]),
    )
