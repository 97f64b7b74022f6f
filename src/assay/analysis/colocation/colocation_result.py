from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from assay.analysis.colocation.colocated_pipeline import ColocatedPipeline
from assay.analysis.colocation.group_run import GroupRun
from assay.analysis.colocation.kept_contrast import KeptContrast
from assay.analysis.colocation.rate_search import RateSearch
from assay.analysis.colocation.slowdown_estimate import SlowdownEstimate, original
from assay.analysis.colocation_folder import FILE_NAME
from assay.analysis.fields import Fields
from assay.errors import DataError
from assay.record.writing.strict_json import untag
from assay.untrusted.json_text import read_json
from assay.untrusted.read_limit import RESULT

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
