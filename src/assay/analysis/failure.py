from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from assay.analysis.sentences import conclusion_sentences as conclusion
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
    def label(self) -> str:
        """A or B, as people are told: `base` and `head` are their names in files."""
        return {"base": "A", "head": "B"}.get(self.side, self.side)

    def __str__(self) -> str:
        return conclusion.failure(self.label, conclusion.failure_count(self.failed, self.runs), self.what, self.why)

    def to_json(self) -> dict[str, Any]:
        return {**self.__dict__, "said": str(self)}


def failure(side: str, what: str, runs: Iterable[Record]) -> list[Failure]:
    """One failure for all runs of one side that failed; none where no run did."""
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
        lines.append(
            conclusion.same_failure(
                (one.label, twin.label), (one.failed, twin.failed), (one.runs, twin.runs), f"{twin.what}: {one.why}"
            )
        )
    return lines


def _alike(one: Failure, other: Failure) -> bool:
    return (one.what, one.why) == (other.what, other.why)
