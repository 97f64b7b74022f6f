from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from assay.analysis import Comparison, Verdict
from assay.record import Outcome
from assay.report.pages.entry_page import EntryPage
from assay.report.view import SessionView

Tone = Literal["bad", "warn", "good"]
_WORDS = {Outcome.MISSED: "missed a requirement", Outcome.INTERRUPTED: "interrupted", Outcome.SKIPPED: "skipped"}
_FAILED = "failed"


@dataclass(frozen=True)
class Band:
    """The answer in one sentence, and its colour."""

    tone: Tone
    says: str

    @classmethod
    def of(cls, view: SessionView, entries: Sequence[EntryPage], changes: Comparison | None) -> Band:
        if not view.entries:
            return cls("warn", "Nothing was run.")
        bad = _bad(entries)
        waiting = len(view.waiting)
        if bad:
            (word, count), *rest = bad
            fine = sum(entry.view.passed and not entry.regressed for entry in entries)
            first = f"{count} {_entries(count)} {word}"
            told = ", ".join([first, *(f"{more} {other}" for other, more in rest)])
            return cls("bad", _join(told, f"{fine} fine" if fine else "", _waiting(waiting)) + ".")
        if waiting:
            done = len(view.ended)
            ended = f"{done} of {len(view.entries)} {_entries(len(view.entries))} {'has' if done == 1 else 'have'} run"
            return cls("warn", _join(ended, "all passed" if done else "") + ".")
        count = len(view.entries)
        passed = "The entry passed" if count == 1 else f"All {count} entries passed"
        return cls("good", f"{passed}; {_changes(changes)}.")


def _bad(entries: Sequence[EntryPage]) -> list[tuple[str, int]]:
    """How many of each kind, the gravest first. An entry that missed a requirement may have regressed as well."""
    counted: dict[str, int] = {}
    for entry in entries:
        if not entry.view.passed:
            word = _WORDS.get(entry.view.outcome or Outcome.FAILED, _FAILED)
            counted[word] = counted.get(word, 0) + 1
    order = (_FAILED, *_WORDS.values())
    found = sorted(counted.items(), key=lambda item: order.index(item[0]))
    regressed = sum(entry.regressed for entry in entries)
    return [*found, ("regressed", regressed)] if regressed else found


def _changes(changes: Comparison | None) -> str:
    """What is known of changes: "nothing could be told" is not the same as "nothing regressed"."""
    if changes is None or not changes.compared:
        return "nothing earlier to compare with" if changes is None else "nothing could be compared"
    improved = len({row.entry for row in changes.of(Verdict.IMPROVED)})
    better = f", {improved} improved" if improved else ""
    unsure = changes.counts[Verdict.INCONCLUSIVE]
    open_ = f" ({unsure} {'metric' if unsure == 1 else 'metrics'} inconclusive)" if unsure else ""
    return f"no regression found{better}{open_}"


def _waiting(count: int) -> str:
    return f"{count} not run" if count else ""


def _entries(count: int) -> str:
    return "entry" if count == 1 else "entries"


def _join(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
