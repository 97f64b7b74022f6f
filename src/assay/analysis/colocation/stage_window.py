from __future__ import annotations

from dataclasses import dataclass, field

from assay.analysis.colocation.time_histogram import TimeHistogram
from assay.analysis.fields import Fields


@dataclass(frozen=True)
class StageWindow:
    """One stage of one pipeline in one run, over the window that is compared. Times in seconds."""

    id: int
    name: str
    calls: int
    mean_s: float | None
    p50_s: float | None
    p99_s: float | None
    histogram: TimeHistogram = field(default_factory=TimeHistogram, repr=False)

    @classmethod
    def read(cls, written: Fields) -> StageWindow | None:
        id = written.whole("id")
        if id is None:
            return None
        window = written.inner("window")
        return cls._of(id, written, window, window.count("calls"))

    @classmethod
    def read_flat(cls, written: Fields) -> StageWindow | None:
        """Reads the form in which a contrast has stages: the figures stand beside the name, not in `window`."""
        id = written.whole("id")
        return None if id is None else cls._of(id, written, written, written.count("count"))

    @classmethod
    def _of(cls, id: int, written: Fields, window: Fields, calls: int) -> StageWindow:
        return cls(
            id=id,
            name=written.text("name") or f"stage {id}",
            calls=calls,
            mean_s=window.seconds("mean_us"),
            p50_s=window.seconds("p50_us"),
            p99_s=window.seconds("p99_us"),
            histogram=TimeHistogram.read(written.inner("histogram")),
        )

    @property
    def busy_s(self) -> float:
        """Time spent in it, over all calls."""
        return self.calls * (self.mean_s or 0.0)
