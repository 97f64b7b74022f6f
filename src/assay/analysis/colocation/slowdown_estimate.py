from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from assay.analysis.fields import Fields

WHAT: Final = ("throughput", "p50", "p99")
_OF_A_STAGE: Final = ("mean", "p50", "p99")
_MOST_BESIDE = 64
_COPY = " (copy)"


@dataclass(frozen=True)
class SlowdownEstimate:
    """How many times worse a pipeline, or one stage of it, is beside others than alone: 1 is no difference."""

    pipeline: str
    beside: tuple[str, ...]
    what: str
    stage: int | None
    estimate: float | None
    low: float | None
    high: float | None
    confidence: float | None
    seconds: float | None
    """The window that was compared."""
    rounds: int
    queries_alone: int
    queries_beside: int
    reason: str
    """Why there is no number, or empty."""

    @classmethod
    def read(cls, written: Fields) -> SlowdownEstimate | None:
        pipeline, beside = written.text("pipeline"), written.texts("beside", _MOST_BESIDE)
        what, stage = written.text("what"), written.whole("stage")
        estimate, low, high = (written.at_least_0(name) for name in ("estimate", "low", "high"))
        known = WHAT if stage is None else _OF_A_STAGE
        if (
            not pipeline
            or not beside
            or what not in known
            or (stage is None and written.written.get("stage") is not None)
        ):
            return None
        if low is None or high is None or not low <= high:
            low = high = None
        return cls(
            pipeline=pipeline, beside=beside, what=what, stage=stage,
            estimate=estimate, low=low, high=high, confidence=written.at_least_0("confidence"),
            seconds=written.at_least_0("seconds"), rounds=written.count("rounds"),
            queries_alone=written.count("queries_alone"), queries_beside=written.count("queries_beside"),
            reason=written.sentence("reason"),
        )  # fmt: skip

    @property
    def slower(self) -> bool | None:
        """Whether the whole interval is above 1 (True) or below it (False); None where it holds 1 or is missing."""
        if self.low is None or self.high is None:
            return None
        return True if self.low > 1 else False if self.high < 1 else None

    @property
    def own_copy(self) -> bool:
        """Whether what ran beside it was the same pipeline again."""
        return is_own_copy(self.pipeline, self.beside)


def is_own_copy(pipeline: str, beside: Sequence[str]) -> bool:
    return all(original(name) == pipeline for name in beside)


def original(name: str) -> str:
    """The pipeline's own name, where `name` is that of a copy that ran beside it; otherwise `name` itself."""
    return name.removesuffix(_COPY)


def copy_of(name: str) -> str:
    return name + _COPY
