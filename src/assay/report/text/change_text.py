"""What is said of a change point: how far, and where it may be."""

from __future__ import annotations

from assay.analysis.changes.change_point import ChangePoint
from assay.analysis.sentences.metric_words import MetricWords
from assay.report.quantity import percent, quantity

_SHORT = 10
"""Characters of a commit."""
_LISTED = 5


def change_size(change: ChangePoint) -> str:
    """Size of a change in per cent of the level before; as a difference where that is zero or either is negative."""
    if change.ratio is not None and change.before > 0 and change.after >= 0:
        return percent(change.ratio)
    difference = change.after - change.before
    return ("+" if difference > 0 else "−") + quantity(abs(difference), change.unit)


def change_words(change: ChangePoint) -> str:
    """`50.0% slower`; as a difference where it has no per cent."""
    if change.ratio is not None and change.before > 0 and change.after >= 0:
        return MetricWords.of(change.metric, change.unit, change.better).change(change.ratio)
    return change_size(change)


def change_sessions(change: ChangePoint) -> str:
    if change.possible == 1:
        return f"from {change.session} on"
    which = f"{change.earliest} to {change.latest}, most likely {change.session}"
    return f"from one of {change.possible} sessions on ({which})"


def change_commits(change: ChangePoint) -> str:
    """A single commit only where one session alone can be the first at the new level."""
    before, after, measured = change.commit_before, change.commit_after, change.commits
    if not measured:
        return "commit not known"
    if set(measured) == {before}:
        return f"the same commit {measured[0][:_SHORT]} before and after"
    if len(measured) == 1 and change.possible == 1:
        return f"at commit {measured[0][:_SHORT]}" + (f" (before it: {before[:_SHORT]})" if before else "")
    if before is None or after is None:
        more = " …" if len(measured) > _LISTED else ""
        return f"commits measured there: {', '.join(commit[:_SHORT] for commit in measured[:_LISTED])}{more}"
    new = [commit for commit in measured if commit != before]
    return f"between {before[:_SHORT]} and {after[:_SHORT]}: {_commits(len(new))} measured"


def _commits(count: int) -> str:
    return "1 commit" if count == 1 else f"{count} commits"
