from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from assay.record import Outcome, Record

MEASURED = (Outcome.PASSED, Outcome.MISSED)


@dataclass(frozen=True)
class Failure:
    """Runs of one side that gave no measurement. A comparison with one is not green, whatever the other runs say."""

    side: str
    what: str
    """The entry, or the command."""
    why: str
    """The commonest reason."""
    failed: int
    runs: int

    @property
    def count(self) -> str:
        return "" if self.failed == self.runs else f" in {self.failed} of {self.runs} runs"

    def __str__(self) -> str:
        return f"{self.side} failed{self.count}: {self.what}: {self.why}"

    def to_json(self) -> dict[str, Any]:
        return {**self.__dict__, "said": str(self)}


def failure(side: str, what: str, runs: Iterable[Record]) -> list[Failure]:
    """Of all runs of one side, none or one."""
    counted = [run for run in runs if run.counts]
    failed = [run for run in counted if run.outcome not in MEASURED]
    if not failed:
        return []
    reasons = Counter("; ".join(run.reasons) or str(run.outcome) for run in failed)
    return [Failure(side, what, reasons.most_common(1)[0][0], len(failed), len(counted))]


def failure_lines(failures: Sequence[Failure]) -> list[str]:
    """One sentence each; two sides that fail alike are one, since then the change is not to blame."""
    lines: list[str] = []
    told: set[int] = set()
    for at, one in enumerate(failures):
        if at in told:
            continue
        other = next((n for n, f in enumerate(failures) if n > at and f.side != one.side and _alike(one, f)), None)
        if other is None:
            lines.append(str(one))
            continue
        told.add(other)
        twin = failures[other]
        if one.count or twin.count:
            counts = f"in {one.failed} of {one.runs} runs and {twin.side} in {twin.failed} of {twin.runs}"
            lines.append(f"{one.side} failed {counts}, in the same way: {twin.what}: {one.why}")
        else:
            lines.append(f"{one.side} and {twin.side} failed in the same way: {twin.what}: {one.why}")
    return lines


def _alike(one: Failure, other: Failure) -> bool:
    return (one.what, one.why) == (other.what, other.why)
