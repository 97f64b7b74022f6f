from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from assay.analysis.colocation.pipeline_run import PipelineRun, StageWindow, stretch
from assay.analysis.colocation.read_colocation import FILE_NAME
from assay.analysis.colocation.slowdown import RateSearch, SlowdownEstimate, is_own_copy, original
from assay.analysis.fields import Fields
from assay.errors import DataError
from assay.files.json_text import read_json, untag
from assay.files.reading import RESULT

_MOST_OBJECTIVES = 20
_MOST_STAGES = 1000


@dataclass(frozen=True)
class ColocatedPipeline:
    """What was asked of one pipeline."""

    name: str
    loop: str
    """`open`, `closed`, or empty where it is not written."""
    asked_rate: float | None
    until: str
    objectives: tuple[str, ...]
    """Objectives in words: `p99 of latency at most 0.05 s`."""
    stages: tuple[int, ...]

    @classmethod
    def read(cls, written: Fields) -> ColocatedPipeline | None:
        name = written.text("name")
        if not name:
            return None
        return cls(
            name=name,
            loop=written.text("loop"),
            asked_rate=written.at_least_0("asked_rate"),
            until=written.text("until"),
            objectives=written.each("objectives", _MOST_OBJECTIVES, _objective),
            stages=written.each("stages", _MOST_STAGES, lambda one: one.whole("id")),
        )


def _objective(written: Fields) -> str | None:
    share, seconds = written.at_least_0("percentile"), written.at_least_0("seconds")
    if share is None or seconds is None:
        return None
    of = written.text("of").replace("_", " ") or "latency"
    return f"p{share * 100:.6g} of {of} at most {seconds:g} s"


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


_MOST_BESIDE = 64
_MOST_CONTRAST_STAGES = 200
_MOST_WINDOWS = 1000


@dataclass(frozen=True)
class KeptContrastSide:
    """What a pipeline did in the windows that are compared, all rounds together."""

    queries: int
    seconds: float
    """Length of all windows together."""
    stages: tuple[StageWindow, ...]


@dataclass(frozen=True)
class KeptContrast:
    """One pipeline alone and beside others, over the same windows of the same schedule."""

    pipeline: str
    beside: tuple[str, ...]
    paired: bool
    """Whether both sides are of the same queries."""
    alone: KeptContrastSide
    together: KeptContrastSide

    @classmethod
    def read(cls, written: Fields) -> KeptContrast | None:
        pipeline, beside = written.text("pipeline"), written.texts("beside", _MOST_BESIDE)
        alone, together = (_side(written, side) for side in ("alone", "together"))
        if not pipeline or not beside or not alone.stages or not together.stages:
            return None
        return cls(pipeline, beside, written.flag("paired") is True, alone, together)

    @property
    def own_copy(self) -> bool:
        return is_own_copy(self.pipeline, self.beside)


def _side(written: Fields, name: str) -> KeptContrastSide:
    side = written.inner(name)
    windows = written.each("windows", _MOST_WINDOWS, lambda one: stretch(one.inner(name)))
    seconds = math.fsum(end - begin for begin, end in windows)
    stages = side.each("stages", _MOST_CONTRAST_STAGES, StageWindow.read_flat)
    return KeptContrastSide(side.inner("latency").count("count"), seconds, stages)


VERSION: Final = 2
_MOST_PIPELINES = 64
_MOST_RUNS = 2000
_MOST_ESTIMATES = 20_000
_MOST_CONTRASTS = 4000


@dataclass(frozen=True)
class ColocationResult:
    """What `colocation.json` says, as far as it can be read."""

    name: str
    kind: str
    policy: str
    pipelines: tuple[ColocatedPipeline, ...]
    runs: tuple[GroupRun, ...]
    estimates: tuple[SlowdownEstimate, ...]
    contrasts: tuple[KeptContrast, ...]
    rates: RateSearch | None
    left_out: tuple[str, ...]
    """Parts of the file that were not read, in words: `3 of 12 runs`."""

    @classmethod
    def read(cls, path: Path) -> ColocationResult:
        """Raises `DataError` where nothing can be shown, and FileNotFoundError."""
        whole = read_json(path, RESULT, untag)
        if not isinstance(whole, dict):
            raise DataError(f"{path}: holds a {type(whole).__name__}, not what `assay colocate` writes")
        written = Fields(whole)
        version = written.number("version")
        if version is not None and version > VERSION:
            raise DataError(f"{path}: has version {version:g}, and this Assay reads version {VERSION}: use a newer one")
        if version != VERSION:
            told = "no version" if version is None else f"version {version:g}"
            raise DataError(f"{path}: has {told}, and a page is made of version {VERSION}: run the colocation again")
        pipelines = written.each("pipelines", _MOST_PIPELINES, ColocatedPipeline.read)
        runs = written.each("runs", _MOST_RUNS, GroupRun.read)
        if not runs:
            raise DataError(f"{path}: has no run that can be read")
        cells = written.each("cells", _MOST_ESTIMATES, SlowdownEstimate.read)
        counted = (("pipelines", len(pipelines)), ("runs", len(runs)), ("cells", len(cells)))
        return cls(
            name=written.text("name") or path.absolute().parent.name,
            kind=written.text("kind"),
            policy=written.text("policy"),
            pipelines=pipelines,
            runs=runs,
            estimates=cells,
            contrasts=written.each("contrasts", _MOST_CONTRASTS, KeptContrast.read),
            rates=RateSearch.read(written.inner("rates")),
            left_out=tuple(
                f"{there - read:,} of {there:,} {name}"
                for name, read in counted
                if (there := len(written.list_of(name))) > read
            ),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all pipelines, in the order of the file; last those that only runs name."""
        said = [one.name for one in self.pipelines]
        return tuple(dict.fromkeys([*said, *(name for run in self.runs for name in run.members)]))

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Names of the pipelines that ran together, one tuple a group, in the order of the file."""
        return tuple(dict.fromkeys(run.members for run in self.runs if not run.alone))

    def rounds(self, members: tuple[str, ...]) -> tuple[GroupRun, ...]:
        return tuple(run for run in self.runs if run.members == members)

    def alone(self, pipeline: str) -> tuple[GroupRun, ...]:
        return tuple(run for run in self.runs if run.alone and run.members == (pipeline,))

    def contrast(self, pipeline: str, members: Sequence[str]) -> KeptContrast | None:
        """What a pipeline did alone and beside the others of its group; None where the file does not have it."""
        others = tuple(original(name) for name in members if name != pipeline)
        mine = (one for one in self.contrasts if one.pipeline == pipeline)
        return next((one for one in mine if tuple(map(original, one.beside)) == others), None)

    def stage_order(self, pipeline: str) -> tuple[int, ...]:
        """Ids as the configuration has them, then those that only runs know."""
        said = next((one.stages for one in self.pipelines if one.name == pipeline), ())
        ran = (
            stage.id for run in self.runs for one in run.pipelines if one.pipeline == pipeline for stage in one.stages
        )
        return tuple(dict.fromkeys([*said, *ran]))


def colocation_file(folder: Path) -> Path | None:
    """Where a run or `assay colocate` left it."""
    path = folder / FILE_NAME
    return path if os.path.isfile(path) else None
