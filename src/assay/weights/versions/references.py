"""Branches and tags, all in one sealed file, so that a change of any of them is one rename."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from assay.errors import DataError, UsageError
from assay.weights.repository_disk import RepositoryDisk
from assay.weights.versions.sealed import seal, unseal

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\-]*)*")
_COMMIT = re.compile(r"[0-9a-f]{48}")


@dataclass(frozen=True)
class References:
    head: str = "main"
    """The branch that commits go to."""
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def with_branch(self, name: str, commit: str) -> References:
        return replace(self, branches={**self.branches, check_name(name): commit})

    def with_tag(self, name: str, commit: str) -> References:
        return replace(self, tags={**self.tags, check_name(name): commit})

    def tips(self) -> set[str]:
        return {*self.branches.values(), *self.tags.values()}


def check_name(name: str) -> str:
    if not _NAME.fullmatch(name) or len(name) > 200 or _COMMIT.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot name a branch or tag: use letters, digits, '.', '_', '-', with '/' between parts"
        )
    return name


def read_references(path: Path) -> References:
    return parse_references(str(path), unseal(path))


def parse_references(path: str, value: dict[str, Any]) -> References:
    head, branches, tags = value.get("head"), value.get("branches"), value.get("tags")
    if not isinstance(head, str) or not isinstance(branches, dict) or not isinstance(tags, dict):
        raise DataError(f"{path} is damaged: it must have head, branches and tags")
    for name, commit in (*branches.items(), *tags.items(), (head, "0" * 48)):
        if not _NAME.fullmatch(name) or not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
            raise DataError(f"{path} is damaged: {name!r} refers to {commit!r}")
    return References(head, branches, tags)


def seal_references(references: References) -> bytes:
    return seal({"head": references.head, "branches": references.branches, "tags": references.tags})


def write_references(disk: RepositoryDisk, path: Path, temporary: Path, references: References) -> None:
    disk.write_file(temporary, path, seal_references(references))
