"""Three-way merges, tensor by tensor, on digests: nothing is averaged and nothing is dropped by accident."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from assay.errors import UsageError
from assay.names import unknown
from assay.weights.versions.commit import Commit, TensorEntry

if TYPE_CHECKING:
    from assay.weights.repository import Repository

STRATEGIES = ("refuse", "ours", "theirs")


class MergeConflict(UsageError):
    def __init__(self, names: list[str]) -> None:
        self.names = names
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        super().__init__(f"both sides changed {shown}; say which to keep with --strategy ours or --strategy theirs")


def merge(repository: Repository, other: str, strategy: str, message: str) -> str:
    if strategy not in STRATEGIES:
        raise UsageError(unknown("merge strategy", strategy, STRATEGIES))
    references = repository.references
    theirs = repository.show(other)
    if references.head not in references.branches:
        raise UsageError(f"branch {references.head!r} has no commit yet to merge {other} into")
    ours = repository.show(references.head)
    ancestor = _nearest_common(repository, ours, theirs)
    if ancestor == theirs.id:
        return ours.id
    if ancestor == ours.id:
        repository.move(references.head, theirs.id)
        return theirs.id
    before = repository.commits.read(ancestor) if ancestor else None
    entries = merge_entries(before, ours, theirs, strategy)
    text = message or f"merge {other} into {references.head}"
    commit = repository.commits.write(
        Commit("", (ours.id, theirs.id), text, references.head, time.time(), tuple(sorted(entries, key=_name)))
    )
    repository.move(references.head, commit.id)
    return commit.id


def merge_entries(before: Commit | None, ours: Commit, theirs: Commit, strategy: str) -> list[TensorEntry]:
    """A tensor that one side changed is taken from that side; one that both changed differently follows `strategy`."""
    base, left, right = ({e.name: e for e in commit.entries} if commit else {} for commit in (before, ours, theirs))
    kept, conflicts = [], []
    for name in sorted(left.keys() | right.keys()):
        was, here, there = base.get(name), left.get(name), right.get(name)
        if here == there or there == was:
            chosen = here
        elif here == was:
            chosen = there
        elif strategy == "refuse":
            conflicts.append(name)
            continue
        else:
            chosen = here if strategy == "ours" else there
        if chosen is not None:
            kept.append(chosen)
    if conflicts:
        raise MergeConflict(conflicts)
    return kept


def _name(entry: TensorEntry) -> str:
    return entry.name


def _nearest_common(repository: Repository, ours: Commit, theirs: Commit) -> str | None:
    """The newest commit that both descend from; with several, the one fewest steps from ours."""
    steps = _ancestors(repository, ours.id)
    common = steps.keys() & _ancestors(repository, theirs.id).keys()
    return min(common, key=lambda commit_id: (steps[commit_id], commit_id), default=None)


def _ancestors(repository: Repository, start: str) -> dict[str, int]:
    steps = {start: 0}
    todo = [start]
    for commit_id in todo:
        for parent in repository.commits.read(commit_id).parents:
            if parent not in steps:
                steps[parent] = steps[commit_id] + 1
                todo.append(parent)
    return steps
