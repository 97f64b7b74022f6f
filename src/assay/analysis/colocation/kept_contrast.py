from __future__ import annotations

import math
from dataclasses import dataclass

from assay.analysis.colocation.pipeline_run import stretch
from assay.analysis.colocation.slowdown_estimate import is_own_copy
from assay.analysis.colocation.stage_window import StageWindow
from assay.analysis.fields import Fields

_MOST_BESIDE = 64
_MOST_STAGES = 200
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
    stages = side.each("stages", _MOST_STAGES, StageWindow.read_flat)
    return KeptContrastSide(side.inner("latency").count("count"), seconds, stages)
