from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from assay.analysis import Row, Verdict
from assay.analysis.judging.noise_floors import NoiseFloor
from assay.analysis.judging.pairs_needed import pairs_needed
from assay.analysis.judging.sample import sample
from assay.experiment.ab import Found
from assay.experiment.pair import complete_pairs


@dataclass(frozen=True)
class Calibrated:
    row: Row
    floor: float
    """The largest difference between identical code that these pairs cannot rule out."""
    pairs_needed: int | None
    """Pairs with which identical code is called equivalent in most experiments; None if hundreds would not do."""

    @property
    def suspicious(self) -> bool:
        """Identical code was called different: something favours one side."""
        return self.row.verdict in (Verdict.IMPROVED, Verdict.REGRESSED)


def calibrate(found: Found) -> list[Calibrated]:
    return [
        Calibrated(row, max(row.high, 1 / row.low) - 1, _find_pairs_needed(found, row))
        for row in found.comparison.rows
        if row.low is not None and row.high is not None and row.better is not None
    ]


def _find_pairs_needed(found: Found, row: Row) -> int | None:
    a, b = (
        sample([run.metrics for run in side], row.metric) for side in complete_pairs(found.records, row.entry)
    )  # fmt: skip
    return pairs_needed(a.values, b.values) if a and b and a.values.size == b.values.size else None


def floors(found: Found, measured: Iterable[Calibrated], names: Sequence[str]) -> list[NoiseFloor]:
    """Noise floors, by the fingerprint that ordinary runs of the entry have, so that `compare` finds them."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    keys = {name: base[0].fingerprint.key for name in names if (base := complete_pairs(found.records, name)[0])}
    return [
        NoiseFloor(item.row.entry, item.row.metric, keys[item.row.entry], item.floor, item.row.head_runs, now)
        for item in measured
        if item.row.entry in keys
    ]
