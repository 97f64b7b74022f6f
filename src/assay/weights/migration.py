"""Brings a repository to the present format. Cut short anywhere, it is whole: in the old format or in the new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from assay.errors import DataError, UsageError
from assay.weights.codec.codec_methods import FORMAT
from assay.weights.repository import Repository
from assay.weights.repository_config import (
    MIGRATIONS,
    Migration,
    OldTensors,
    RepositoryConfig,
    check_format,
    repository_config,
)
from assay.weights.repository_disk import RepositoryDisk, WriterLock
from assay.weights.verifier import Verification, verify
from assay.weights.versions.commit import Commit, seal, unseal
from assay.weights.versions.ingest import Ingest


@dataclass(frozen=True)
class MigratedRepository:
    before: int
    after: int
    change: str
    """What the new format has, for a person; empty if there was nothing to do."""
    tensors: int
    commits: int


def migrate(
    path: str | Path, disk: RepositoryDisk | None = None, known: Mapping[int, Migration] = MIGRATIONS
) -> MigratedRepository:
    path, disk = Path(path), disk or RepositoryDisk()
    if not (path / "format").is_file():
        raise UsageError(f"{path} is not a weight repository; make one with: assay weights init {path}")
    lock = WriterLock(path / "lock")
    with lock:
        value = unseal(path / "format")
        before = value.get("format")
        step = known.get(before) if type(before) is int else None
        if step is None or before is None:
            check_format(path, before)
            _remove_old_packs(path, disk, known)
            return MigratedRepository(FORMAT, FORMAT, "", 0, 0)
        repository = Repository(path, _exact(repository_config(value.get("config"))), disk)
        repository.writing = lock
        if step.open is not None:
            _rewrite(repository, step.open(path / "packs"))
        found = _check(repository, step)
        disk.write_file(path / "tmp" / uuid4().hex, path / "format", seal({**value, "format": FORMAT}))
        _remove_old_packs(path, disk, known)
        return MigratedRepository(int(before), FORMAT, step.change, found.tensors, found.commits)


def _exact(config: RepositoryConfig) -> RepositoryConfig:
    """What was rounded once is kept as it is now."""
    return replace(config, delta_encoding="AUTO") if config.delta_encoding.startswith("LOSSY") else config


def _rewrite(repository: Repository, old: OldTensors) -> None:
    """Stores every version anew, the oldest first, on the bases that the versions before it offer.

    Commits stay: they name tensors by their content. What an earlier attempt wrote is whole, and is taken as it is.
    """
    for commit in _oldest_first(repository):
        with Ingest(repository, commit.parents) as ingest:
            for entry in commit.entries:
                ingest.add(entry.name, old.read(bytes.fromhex(entry.digest)))
            if ingest.finish() != tuple(sorted(commit.entries)):
                raise DataError(
                    f"{repository.path} is damaged and stays as it is: commit {commit.id[:12]} names other tensors "
                    "than its packs hold; restore it from a copy first"
                )


def _check(repository: Repository, step: Migration) -> Verification:
    """All that the present format will find there, read and compared before it counts."""
    found = verify(repository, ignore=() if step.open is None else (step.ending,))
    if not found.passed:
        more = f" (and {len(found.problems) - 1} more)" if len(found.problems) > 1 else ""
        raise DataError(
            f"{repository.path} is damaged and stays as it is: {found.problems[0]}{more}; restore it from a copy first"
        )
    return found


def _oldest_first(repository: Repository) -> list[Commit]:
    """Parents before their children."""
    order: dict[str, Commit] = {}
    todo = sorted(repository.commits.ids(), reverse=True)
    while todo:
        commit = repository.commits.read(todo[-1])
        missing = [parent for parent in commit.parents if parent not in order]
        if missing:
            todo.extend(missing)
            continue
        order[todo.pop()] = commit
    return list(order.values())


def _remove_old_packs(path: Path, disk: RepositoryDisk, known: Mapping[int, Migration]) -> None:
    """Packs that the present format does not look at, of this migration or of one that was killed before its end."""
    endings = tuple(step.ending for step in known.values() if step.open is not None)
    old = [pack for pack in (path / "packs").iterdir() if endings and pack.name.endswith(endings)]
    for pack in old:
        disk.remove(pack)
    if old:
        disk.sync_folder(path / "packs")
