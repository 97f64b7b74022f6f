from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["regressed", "improved", "equivalent", "inconclusive", "not comparable"]
ORDER: tuple[Verdict, ...] = ("regressed", "improved", "inconclusive", "not comparable", "equivalent")


@dataclass(frozen=True)
class Change:
    """One metric of one entry against an earlier session, as it is shown."""

    entry: str
    metric: str
    verdict: Verdict
    reason: str = ""
    base: float | None = None
    head: float | None = None
    unit: str | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Changes:
    base: str
    """Name of the session compared with."""
    rows: tuple[Change, ...]
    notes: tuple[str, ...] = ()

    def of(self, verdict: Verdict) -> tuple[Change, ...]:
        return tuple(row for row in self.rows if row.verdict == verdict)

    def of_entry(self, entry: str) -> dict[str, Change]:
        return {row.metric: row for row in self.rows if row.entry == entry}
