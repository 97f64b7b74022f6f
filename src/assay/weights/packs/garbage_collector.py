"""Collects garbage and repacks: packs that hold nothing dead stay as they are, the rest is copied into one new pack.

Copied chunks keep their bytes. With `recluster`, every tensor is coded anew on the base that its cluster suggests.
Nothing old is removed before what replaces it is on disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from shutil import rmtree
from typing import TYPE_CHECKING

from assay.weights.packs.pack_files import PackWriter
from assay.weights.packs.tensor_record import TensorRecord
from assay.weights.repository_disk import bytes_on_disk, is_in_use

if TYPE_CHECKING:
    from assay.weights.repository import Repository


@dataclass(frozen=True)
class Collected:
    commits_removed: int
    tensors_removed: int
    packs_before: int
    packs_after: int
    bytes_before: int
    bytes_after: int

    @property
    def bytes_freed(self) -> int:
        return self.bytes_before - self.bytes_after


_SMALL_PACKS = 8
"""This many packs are worth joining even if nothing in them is dead."""


def collect(repository: Repository, recluster: bool) -> Collected:
    objects = repository.objects
    objects.refresh()
    live_commits = _reachable(repository)
    dead_commits = repository.commits.ids() - live_commits
    commits = [repository.commits.read(commit_id) for commit_id in live_commits]
    digests = [bytes.fromhex(entry.digest) for commit in commits for entry in commit.entries]
    live = _with_bases(repository, digests)
    packs_before, bytes_before = len(objects.packs), bytes_on_disk(repository.path)
    every = {record.digest for record in objects.records()}
    # Commits that nothing leads to go before their tensors: a commit must never be there without them.
    for commit_id in dead_commits:
        repository.commits.remove(commit_id)
    repository.disk.sync_folder(repository.commits.folder)
    if recluster:
        from assay.weights.packs.repack import repack

        repack(repository, set(digests))
        live = set(digests)
    else:
        _copy_live(repository, live)
    _clear(repository)
    objects.refresh()
    objects.cache.clear()
    return Collected(
        len(dead_commits),
        len(every - live),
        packs_before,
        len(objects.packs),
        bytes_before,
        bytes_on_disk(repository.path),
    )


def _clear(repository: Repository) -> None:
    """What a killed writer left behind; while we hold the lock nobody writes here but who sends to a remote."""
    for leftover in repository.temporary.iterdir():
        if is_in_use(leftover):
            continue
        if leftover.is_dir() and not leftover.is_symlink():
            rmtree(leftover)
        else:
            repository.disk.remove(leftover)


def _reachable(repository: Repository) -> set[str]:
    found: set[str] = set()
    todo = list(repository.references.tips())
    while todo:
        commit_id = todo.pop()
        if commit_id not in found:
            found.add(commit_id)
            todo.extend(repository.commits.read(commit_id).parents)
    return found


def _with_bases(repository: Repository, digests: list[bytes]) -> set[bytes]:
    live: set[bytes] = set()
    for digest in digests:
        current: bytes | None = digest
        while current is not None and current not in live:
            live.add(current)
            current = repository.objects.record(current).base
    return live


def _copy_live(repository: Repository, live: set[bytes]) -> None:
    objects = repository.objects
    owner = {record.digest: objects.find(record.digest)[0].path for record in objects.records()}
    stale = [
        pack
        for pack in objects.packs
        if any(record.digest not in live or owner[record.digest] != pack.path for record in pack.records)
    ]
    if len(objects.packs) > _SMALL_PACKS:
        stale = objects.packs
    if not stale:
        return
    new = None
    with PackWriter(repository.disk, repository.temporary, objects.folder) as writer:
        for pack in stale:
            for record in pack.records:
                if record.digest in live and owner[record.digest] == pack.path:
                    _copy(repository, writer, record)
        if writer.records:
            new = writer.finish()
    for pack in stale:
        if pack.path != new:
            repository.disk.remove(pack.path)
    repository.disk.sync_folder(objects.folder)


def _copy(repository: Repository, writer: PackWriter, record: TensorRecord) -> None:
    places = tuple(
        writer.add_chunk(chunk.method, repository.objects.read_stored_chunk(record.digest, number))
        for number, chunk in enumerate(record.chunks)
    )
    writer.add_record(record._replace(chunks=places))
