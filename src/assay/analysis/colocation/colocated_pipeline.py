from __future__ import annotations

from dataclasses import dataclass

from assay.analysis.fields import Fields

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
