from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import UsageError
from assay.loadgen.colocation.build_components import SCHEDULERS
from assay.loadgen.colocation.colocation import ColocatedRun, Colocation, PipelineOutcome
from assay.loadgen.colocation.colocation_config import ColocationConfig, PipelineConfig
from assay.loadgen.colocation.result_files import save_group
from assay.loadgen.latency import Peak, Trial, find_peak, queries_to_judge, sweep
from assay.loadgen.load_result import LoadResult
from assay.names import unknown

if TYPE_CHECKING:
    from assay.loadgen.colocation.result_files import EventFormat


TOLERANCE = 0.05
"""Share of the asked rate by which the sent one may fall short."""


@dataclass(frozen=True)
class SentRate:
    """Queries a second: as the schedule had them, and as they were sent."""

    offered: float
    sent: float

    @classmethod
    def of(cls, result: LoadResult) -> SentRate:
        rows = result.measured.sends
        if len(rows) < 2:
            return cls(float("nan"), float("nan"))
        rows = rows[np.argsort(rows["intended"], kind="stable")]
        span = int(rows["intended"][-1]) - result.started_at
        # Median lateness of the last tenth: one late send at the end is not a rate.
        late = float(np.median((rows["start"] - rows["intended"])[-max(len(rows) // 10, 1) :]))
        return cls(len(rows) / span * 1e9, len(rows) / (span + max(late, 0.0)) * 1e9)

    @property
    def problem(self) -> str:
        """Empty where the rate was sent."""
        if self.sent >= (1 - TOLERANCE) * self.offered:
            return ""
        if self.offered != self.offered:
            return "too few queries were sent to tell their rate"
        return (
            f"the rate was not sent: {self.sent:.4g} queries/s of {self.offered:.4g} in the schedule "
            f"(at least {1 - TOLERANCE:.0%} must be)"
        )


@dataclass(frozen=True)
class RatedRun:
    """One pipeline at one rate, beside its neighbours."""

    run: ColocatedRun
    pipeline: PipelineOutcome
    sent: SentRate

    @property
    def reasons(self) -> list[str]:
        """Why the rate does not count as kept; empty where it does."""
        others = [
            f"{other.config.name}, beside it, did not end well: {other.result.ending.reason}"
            for other in self.run.outcome.pipelines
            if other is not self.pipeline and not other.result.ending.success
        ]
        unsent = [self.sent.problem] if self.sent.problem else []
        return [*self.pipeline.result.verdict.reasons, *unsent, *others]

    @property
    def valid(self) -> bool:
        return self.pipeline.result.verdict.valid and not self.reasons


class RateTrials:
    """Runs with one pipeline at another rate; its neighbours, if any, as they are."""

    def __init__(
        self, colocation: Colocation, config: ColocationConfig, name: str, events: EventFormat = "none"
    ) -> None:
        names = [pipeline.name for pipeline in config.pipelines]
        if name not in names:
            raise UsageError(unknown("pipeline", name, names))
        self._colocation = colocation
        self._config = config
        self._name = name
        self._events = events
        component = config.pipeline(name).loadgen.component
        if "rate" not in inspect.signature(SCHEDULERS.find(component)).parameters:
            raise UsageError(f"pipeline {name!r}: {component} has no rate; use poisson, constant or gamma")

    def need_objectives(self) -> None:
        if not self._config.pipeline(self._name).objectives:
            raise UsageError(f"pipeline {self._name!r} has no objectives, so every rate would do: add `objectives:`")

    def run(self, rate: float) -> Trial[RatedRun]:
        pipelines = [
            long_enough(with_rate(pipeline, rate), rate) if pipeline.name == self._name else pipeline
            for pipeline in self._config.pipelines
        ]
        label = f"rate-{rate:g}"
        group = self._colocation.run(pipelines, label)
        save_group(group, events=self._events)
        outcome = group[self._name]
        rated = RatedRun(ColocatedRun(label, group), outcome, SentRate.of(outcome.result))
        return Trial(rate, rated.valid, rated)

    @property
    def rate(self) -> float:
        return float(self._config.pipeline(self._name).loadgen.config.get("rate") or 1.0)


def with_rate(pipeline: PipelineConfig, rate: float) -> PipelineConfig:
    loadgen = pipeline.loadgen.model_copy(update={"config": {**pipeline.loadgen.config, "rate": rate}})
    return pipeline.model_copy(update={"loadgen": loadgen})


def long_enough(pipeline: PipelineConfig, rate: float) -> PipelineConfig:
    """The pipeline with a run long enough to judge its objectives: at a low rate the same time has too few queries."""
    needed = max((queries_to_judge(objective.percentile) for objective in pipeline.objectives), default=0)
    loadgen = pipeline.loadgen
    longer: dict[str, float | None] = {}
    if loadgen.duration is not None:
        longer["duration"] = max(loadgen.duration, needed / rate)
    if loadgen.max_queries is not None:
        longer["max_queries"] = max(loadgen.max_queries, needed)
    if loadgen.timeout is not None:
        longer["timeout"] = max(loadgen.timeout, 2 * needed / rate)
    return pipeline.model_copy(update={"loadgen": loadgen.model_copy(update=longer)})


@dataclass(frozen=True)
class RatesTried:
    """One pipeline at several rates; `peak` is the highest it keeps, where that was looked for."""

    pipeline: str
    trials: Sequence[Trial[RatedRun]]
    peak: Peak[RatedRun] | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "pipeline": self.pipeline,
            "trials": [
                {
                    "rate": trial.rate,
                    "valid": trial.valid,
                    "run": trial.outcome.run.label,
                    "offered": trial.outcome.sent.offered,
                    "sent": trial.outcome.sent.sent,
                    "reasons": trial.outcome.reasons,
                }
                for trial in self.trials
            ],
            "peak": None if self.peak is None else {"rate": self.peak.rate, "bounded": self.peak.bounded},
        }

    @property
    def runs(self) -> list[ColocatedRun]:
        return [trial.outcome.run for trial in self.trials]

    @property
    def success(self) -> bool:
        """Every run of a sweep ended well; a search for the peak found one."""
        if self.peak is not None:
            return self.peak.rate is not None
        return all(trial.outcome.run.outcome.success for trial in self.trials)


def search_rates(
    colocation: Colocation, config: ColocationConfig, words: str, peak: bool, events: EventFormat = "none"
) -> RatesTried:
    """`words` are `NAME=R1,R2,…`; for a peak `NAME` or `NAME=START`."""
    name, _, given = words.partition("=")
    trials = RateTrials(colocation, config, name, events)
    rates = _rates(given)
    if not peak:
        if not rates:
            raise UsageError("a sweep needs rates: NAME=100,200,400")
        return RatesTried(name, sweep(trials.run, rates))
    trials.need_objectives()
    found = find_peak(trials.run, rates[0] if rates else trials.rate)
    return RatesTried(name, found.trials, found)


def _rates(words: str) -> list[float]:
    try:
        rates = [float(word) for word in words.split(",") if word]
    except ValueError:
        raise UsageError(f"{words!r} are not rates: give numbers joined by commas") from None
    if any(not rate > 0 for rate in rates):
        raise UsageError("a rate must be greater than 0")
    # A rate that is named twice is run once: each has a folder of its own.
    return list(dict.fromkeys(rates))
