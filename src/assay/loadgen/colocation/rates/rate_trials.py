from __future__ import annotations

import inspect
from dataclasses import dataclass

from assay.errors import UsageError
from assay.loadgen.colocation.colocation import Colocation, PipelineOutcome
from assay.loadgen.colocation.components import SCHEDULERS
from assay.loadgen.colocation.config import ColocationConfig, PipelineConfig
from assay.loadgen.colocation.rates.sent_rate import SentRate
from assay.loadgen.colocation.running.colocated_run import ColocatedRun
from assay.loadgen.colocation.save import EventFormat, save_group
from assay.loadgen.latency.objective import queries_to_judge
from assay.loadgen.latency.peak import Trial
from assay.names import unknown


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
