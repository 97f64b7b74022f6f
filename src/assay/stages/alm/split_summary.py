from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from assay.pipeline import Batch, Collector, Split
from assay.stages.alm.digest import combine, record_digest
from assay.stages.alm.kernel import NativeBatch
from assay.stages.alm.recording import BadLine, Lines


@dataclass(frozen=True)
class Curated(Batch):
    """Recordings of a block of lines with what the stages made of them.

    Those the compiled pass took are held as index ranges over the lines' bytes; the few others as objects, by
    their row. Output comes in the order of rows, whichever way each was done.
    """

    lines: Lines
    native: NativeBatch | None
    plain: dict[int, dict[str, Any]] = field(default_factory=dict)
    bad: tuple[BadLine, ...] = ()
    rows: int = 0
    """Lines that are not blank, bad ones among them."""
    count: int = 0
    """Recordings with a result."""

    def __len__(self) -> int:
        return self.count

    def slice(self, start: int, stop: int) -> Self:
        raise TypeError("a block of curated recordings is not cut: its windows are ranges over all of its bytes")

    @classmethod
    def concat(cls, batches: Sequence[Self]) -> Self:
        raise TypeError("blocks of curated recordings are not joined: their windows are ranges over their own bytes")


MOST_LISTED = 1000
"""Bad lines kept of each split: a file of nothing else must not fill the driver's memory."""


@dataclass
class SplitSummary:
    """What a split came to. `digest` covers every output field of every recording, in order."""

    entries: int = 0
    entries_with_windows: int = 0
    builder_windows: int = 0
    filtered_windows: int = 0
    filtered_dur: float = 0.0
    truncation_events: int = 0
    skipped: int = 0
    strict: int = 0
    """Recordings the compiled pass left to the strict parser."""
    digest: int = 0
    bad: list[BadLine] = field(default_factory=list)

    def add(self, other: SplitSummary) -> None:
        """`other` comes after this one."""
        for name in ("entries_with_windows", "builder_windows", "filtered_windows", "filtered_dur", "truncation_events",
                     "skipped", "strict"):  # fmt: skip
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.digest = combine(self.digest, other.digest, other.entries)
        self.entries += other.entries
        self.bad.extend(other.bad[: MOST_LISTED - len(self.bad)])


def summarise(batch: Curated, digest: bool) -> SplitSummary:
    summary = SplitSummary(skipped=len(batch.bad), strict=len(batch.plain), bad=list(batch.bad[:MOST_LISTED]))
    for record in batch.plain.values():
        summary.truncation_events += record["truncation_events"]
        if record["windows"]:
            summary.entries_with_windows += 1
            summary.builder_windows += len(record["windows"])
            summary.filtered_windows += len(record["filtered_windows"])
    if batch.native is not None:
        counts = batch.native.counts()
        summary.entries_with_windows += counts.with_windows
        summary.builder_windows += counts.windows
        summary.filtered_windows += counts.filtered
        summary.truncation_events += counts.truncation_events
    summary.entries = len(batch)
    summary.filtered_dur = _duration(batch)
    if digest:
        summary.digest = _digest(batch)
    return summary


def _duration(batch: Curated) -> float:
    """Seconds of a batch, added in the order of rows, so that the total does not depend on who did which row."""
    if batch.native is None:
        return sum_plainly([_duration_kept(record) for record in batch.plain.values()])
    if not batch.plain:
        return float(batch.native.counts().duration)
    durations = batch.native.durations(batch.rows)
    for row, record in batch.plain.items():
        durations[row] = _duration_kept(record)
    return sum_plainly(durations)


def _duration_kept(record: dict[str, Any]) -> float:
    """Seconds kept of a recording. Where it has no windows, a key of that name may be the input's own."""
    return float(record["filtered_dur"]) if record["windows"] else 0.0


def sum_plainly(values: list[float]) -> float:
    total = 0.0
    for value in values:
        total += value
    return total


def _digest(batch: Curated) -> int:
    plain = {row: record_digest(record) for row, record in batch.plain.items()}
    if batch.native is not None:
        return batch.native.digest(batch.rows, plain)[0]
    total = 0
    for digest in plain.values():
        total = combine(total, digest, 1)
    return total


class Tally(Collector[Curated, SplitSummary]):
    """Counts, and digests every output field, without writing any of it."""

    name = "alm_tally"
    needs = frozenset({"filtered_windows"})

    def begin(self, split: Split) -> None:
        self._summary = SplitSummary()

    def process(self, data: Curated) -> None:
        self._summary.add(summarise(data, digest=True))

    def finish(self) -> SplitSummary:
        return self._summary
