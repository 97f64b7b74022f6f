from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil, log1p

from assay.analysis import Comparison, Row, Verdict
from assay.analysis.noise_floors import NoiseFloor
from assay.experiment.ab import Found
from assay.experiment.pair import complete_pairs


@dataclass(frozen=True)
class Calibrated:
    row: Row
    floor: float
    """The largest difference between identical code that these pairs cannot rule out."""
    pairs_needed: int
    """Until an interval would be narrow enough to call identical code equivalent."""

    @property
    def suspicious(self) -> bool:
        """Identical code was called different: something favours one side."""
        return self.row.verdict in (Verdict.IMPROVED, Verdict.REGRESSED)


def calibrated(comparison: Comparison) -> list[Calibrated]:
    found = []
    for row in comparison.rows:
        if row.low is None or row.high is None or row.better is None:
            continue
        floor = max(row.high, 1 / row.low) - 1
        half = (log1p(row.high - 1) - log1p(row.low - 1)) / 2
        needed = ceil(row.head_runs * (half / log1p(0.03)) ** 2) if half > 0 else row.head_runs
        found.append(Calibrated(row, floor, max(6, needed)))
    return found


def floors(found: Found, measured: Iterable[Calibrated], names: Sequence[str]) -> list[NoiseFloor]:
    """By the fingerprint that ordinary runs of the entry have, so that `compare` finds them."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    keys = {name: base[0].fingerprint.key for name in names if (base := complete_pairs(found.records, name)[0])}
    return [
        NoiseFloor(item.row.entry, item.row.metric, keys[item.row.entry], item.floor, item.row.head_runs, now)
        for item in measured
        if item.row.entry in keys
    ]
