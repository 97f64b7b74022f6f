from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.analysis.colocation.pipeline_run import PipelineRun, stretch
from assay.analysis.fields import Fields

_MOST_MEMBERS = 64
_MOST_WARNINGS = 50
_MOST_DECISIONS = 1000


@dataclass(frozen=True)
class KeptOverlap:
    """The stretch of a run in which all its pipelines ran; seconds from the run's release."""

    begin: float
    end: float
    shares: Mapping[str, float] = field(default_factory=dict)
    """Share of each pipeline's own run that this stretch covers, 0 to 1, by pipeline."""

    @property
    def seconds(self) -> float:
        return self.end - self.begin


@dataclass(frozen=True)
class PolicyMark:
    """What a policy decided while a group ran, `t` seconds from the run's release."""

    t: float
    pipeline: str
    action: str
    value: str
    reason: str
    refused: str
    """Why it was not done; empty when it was."""


@dataclass(frozen=True)
class GroupRun:
    """One run of a group of pipelines, or of one alone."""

    label: str
    round: int
    members: tuple[str, ...]
    alone: bool
    overlap: KeptOverlap | None
    warnings: tuple[str, ...]
    marks: tuple[PolicyMark, ...]
    pipelines: tuple[PipelineRun, ...]

    @classmethod
    def read(cls, written: Fields) -> GroupRun | None:
        pipelines = written.each("pipelines", _MOST_MEMBERS, PipelineRun.read)
        members = written.texts("members", _MOST_MEMBERS) or tuple(one.pipeline for one in pipelines)
        if not members or not pipelines:
            return None
        alone = written.flag("alone")
        return cls(
            label=written.text("label") or " + ".join(members),
            round=written.count("round"),
            members=members,
            alone=len(members) == 1 if alone is None else alone,
            overlap=_overlap(written.inner("overlap")),
            warnings=written.sentences("warnings", _MOST_WARNINGS),
            marks=written.each("decisions", _MOST_DECISIONS, _mark),
            pipelines=pipelines,
        )

    def of(self, pipeline: str) -> PipelineRun | None:
        return next((one for one in self.pipelines if one.pipeline == pipeline), None)


def _overlap(written: Fields) -> KeptOverlap | None:
    found = stretch(written)
    if found is None:
        return None
    share = written.inner("share")
    shares = {
        name: value for name in list(share.written)[:_MOST_MEMBERS] if (value := share.at_least_0(name)) is not None
    }
    return KeptOverlap(*found, shares)


def _mark(written: Fields) -> PolicyMark | None:
    t, action = written.number("t"), written.text("action")
    if t is None or not action:
        return None
    value = written.written.get("value")
    told = "" if value is None else str(value)[:80]
    return PolicyMark(
        t, written.text("pipeline"), action, told, written.sentence("reason"), written.sentence("refused")
    )
