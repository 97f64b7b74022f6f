from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.analysis import Row, Verdict
from assay.analysis.changes.change_point import ChangePoint
from assay.analysis.changes.commits import commits_between
from assay.record import Record
from assay.report.earlier.earlier import Earlier
from assay.report.text.change_text import change_commits, change_sessions

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
