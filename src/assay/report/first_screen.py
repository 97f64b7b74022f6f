from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from assay.analysis import Comparison, Row, Verdict
from assay.analysis.sentences.conclusion_sentences import name_first
from assay.analysis.series_changes import ChangePoint, commits_between
from assay.record import Outcome, Record
from assay.report.entry_page import EntryPage
from assay.report.session_view import SessionView
from assay.report.text.series import change_commits, change_sessions
from assay.report.trends import Earlier, Moved, most_telling

_SHORT = 10
"""Characters of a commit."""
_LISTED = 8


@dataclass(frozen=True)
class Since:
    """Between which sessions and commits something changed for the worse."""

    words: str
    commits: tuple[str, ...]
    """`<hash> <subject>`, newest first, where git knows them."""

    @classmethod
    def passed(cls, entry: str, own: Sequence[Record], earlier: Earlier) -> Since:
        """An entry that fails now: when it last did not."""
        return cls._runs("last passed in", entry, own, earlier)

    @classmethod
    def of(cls, row: Row, own: Sequence[Record], earlier: Earlier) -> Since:
        step = _step(row, earlier)
        if step is not None:
            listed = commits_between(step.commit_before, step.commit_after, most=_LISTED)
            return cls(f"{change_sessions(step)}; {change_commits(step)}", tuple(listed))
        return cls._runs("since", row.entry, own, earlier)

    @classmethod
    def _runs(cls, how: str, entry: str, own: Sequence[Record], earlier: Earlier) -> Since:
        base = earlier.runs(entry)
        if not base:
            return cls("", ())
        old, new = base[-1].git_commit, own[-1].git_commit if own else None
        return cls(f"{how} {base[-1].session}{_commits(old, new)}", tuple(commits_between(old, new, most=_LISTED)))


def _step(row: Row, earlier: Earlier) -> ChangePoint | None:
    """The last one of the history, where it leads from the level before to what is now: then it is this regression."""
    trend = earlier.trend(row.entry, row.metric)
    step = trend.changes[-1] if trend and trend.changes else None
    if step is None or row.head is None or row.before is None or step.verdict not in (None, Verdict.REGRESSED):
        return None
    apart = abs(step.after - step.before)
    same = abs(row.head - step.after) < apart / 2 and abs(row.before - step.before) < apart / 2
    return step if same else None


def _commits(old: str | None, new: str | None) -> str:
    if not (old and new):
        return ""
    if old == new:
        return f"; the same commit {new[:_SHORT]} before and after"
    return f"; commit {old[:_SHORT]} → {new[:_SHORT]}"


Tone = Literal["bad", "warn", "good", "neutral"]
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
        return cls(_tone(view, changes), f"{passed}; {_gates(view) or _changes(changes)}.")


def _tone(view: SessionView, changes: Comparison | None) -> Tone:
    """Green only where something was compared; a gate that cannot tell needs a look."""
    gates = {entry.gate for entry in view.entries}
    if "cannot tell" in gates:
        return "warn"
    if "nothing to compare with" in gates or changes is None or not changes.compared:
        return "neutral"
    return "good"


def _gates(view: SessionView) -> str:
    """Gates that are neither passed nor missed."""
    undecided = [gate for entry in view.entries if entry.undecided for gate in entry.gates]
    open_ = [str(gate) for gate in undecided if gate.result != "pass"]
    return name_first([line.rstrip(".") for line in open_], most=1)


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
        told = changes is not None and changes.rows
        return "nothing could be compared" if told else "nothing earlier to compare with"
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


LOG_LINES = 5
_NO_LOG = (Outcome.MISSED, Outcome.NOT_STARTED, Outcome.SKIPPED)
"""Outcomes of which the program's own output does not say why."""


@dataclass(frozen=True)
class FailureCard:
    """An entry that did not pass, and why."""

    page: EntryPage
    reasons: tuple[str, ...]
    log: str
    """The last lines of what it printed."""
    since: Since

    @classmethod
    def of(cls, page: EntryPage, earlier: Earlier) -> FailureCard:
        lines = [line for line in page.log.splitlines() if line.strip()]
        said = () if page.view.outcome in _NO_LOG else lines[-LOG_LINES:]
        since = Since.passed(page.view.name, page.view.counted, earlier)
        return cls(page, page.view.reasons, "\n".join(said), since)

    @property
    def runs(self) -> str:
        """`in 2 of 6 runs`; nothing where every run ended so."""
        counted = self.page.view.counted
        failed = [run for run in counted if not run.success]
        return f"in {len(failed)} of {len(counted)} runs" if 0 < len(failed) < len(counted) else ""


@dataclass(frozen=True)
class RegressionCard:
    """An entry that regressed: the metric that says most, what it was and is, and since when."""

    page: EntryPage
    row: Row
    others: tuple[Row, ...]
    """What regressed in it besides."""
    moved: Moved
    since: Since

    @classmethod
    def of(cls, page: EntryPage, changes: Comparison, earlier: Earlier) -> RegressionCard:
        lead, *others = most_telling([row for row in changes.regressed if row.entry == page.view.name])
        moved, since = Moved.of(lead, page.view, earlier), Since.of(lead, page.view.counted, earlier)
        return cls(page, lead, tuple(others), moved, since)


MOST_CARDS = 8
"""Most cards of failures, and of regressions: a person reads no more; all others stand first in the table."""


@dataclass(frozen=True)
class FirstScreen:
    band: Band
    failures: tuple[FailureCard, ...]
    regressions: tuple[RegressionCard, ...]
    more_failures: tuple[EntryPage, ...]
    """Those without a card."""
    more_regressions: tuple[EntryPage, ...]
    skipped: tuple[EntryPage, ...]
    """Not run because of another that did not pass."""

    @classmethod
    def of(
        cls, view: SessionView, entries: Sequence[EntryPage], changes: Comparison | None, earlier: Earlier
    ) -> FirstScreen:
        skipped = [entry for entry in entries if entry.view.outcome is Outcome.SKIPPED]
        failed = [entry for entry in entries if not entry.view.passed and entry not in skipped]
        regressed = [entry for entry in entries if entry.regressed]
        return cls(
            Band.of(view, entries, changes),
            tuple(FailureCard.of(entry, earlier) for entry in failed[:MOST_CARDS]),
            tuple(RegressionCard.of(entry, changes, earlier) for entry in regressed[:MOST_CARDS]) if changes else (),
            tuple(failed[MOST_CARDS:]),
            tuple(regressed[MOST_CARDS:]),
            tuple(skipped),
        )
