from __future__ import annotations

from dataclasses import dataclass

from assay.errors import UsageError


@dataclass(frozen=True)
class BuilderParameters:
    target_window_duration: float = 120.0
    tolerance: float = 0.1
    min_sample_rate: float = 16000
    min_bandwidth: float = 8000
    min_speakers: int = 2
    max_speakers: int = 5
    truncation: bool = True
    drop_fields: str = "words"
    drop_fields_top_level: str = "words,segments"

    def __post_init__(self) -> None:
        needed = sorted({"start", "end"} & set(self.dropped))
        if needed:
            raise UsageError(f"--drop-fields: {', '.join(needed)} cannot be dropped: a window's span is read from it")

    @property
    def lo(self) -> float:
        return self.target_window_duration - self.target_window_duration * self.tolerance

    @property
    def hi(self) -> float:
        return self.target_window_duration + self.target_window_duration * self.tolerance

    @property
    def dropped(self) -> frozenset[str]:
        return _names(self.drop_fields)

    @property
    def dropped_top_level(self) -> frozenset[str]:
        return _names(self.drop_fields_top_level)


@dataclass(frozen=True)
class OverlapParameters:
    overlap_percentage: float = 0
    target_duration: float = 120.0

    def __post_init__(self) -> None:
        if not 0 <= self.overlap_percentage <= 100:
            raise UsageError(f"--overlap-percentage: {self.overlap_percentage} is not between 0 and 100")
        if not self.target_duration > 0:
            raise UsageError(f"the target duration must be positive, not {self.target_duration}")

    @property
    def threshold(self) -> float:
        return self.overlap_percentage / 100


def _names(comma_separated: str) -> frozenset[str]:
    return frozenset(name.strip() for name in comma_separated.split(",") if name.strip())
