from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from assay.errors import UsageError
from assay.files.reading import check_own_folders
from assay.names import unknown
from assay.weights.codec.codec_methods import FORMAT
from assay.weights.element_types import ELEMENT_TYPES
from assay.weights.packs.chunks import ChunkReading, Slabs
from assay.weights.packs.object_store import ObjectStore
from assay.weights.repository_config import RepositoryConfig, read_stored_config, repository_config
from assay.weights.repository_disk import FOLDERS, RepositoryDisk, WriterLock, bytes_on_disk, check_unused, new_folder
from assay.weights.store import StoreStats, Tensor
from assay.weights.versions.commit import (
    Commit,
    CommitStore,
    Diff,
    References,
    TensorEntry,
    check_name,
    diff_of,
    read_references,
    seal,
    unseal,
    write_references,
)
from assay.weights.versions.ingest import LazyTensors

if TYPE_CHECKING:
    from assay.weights.packs.garbage_collector import Collected
    from assay.weights.verifier import Verification
    from assay.weights.versions.ingest import Ingest


def repository_stats(repository: Repository) -> StoreStats:
    entries = [entry for commit_id in repository.commits.ids() for entry in repository.commits.read(commit_id).entries]
    repository.objects.refresh()
    records = list(repository.objects.records())
    unique = {entry.digest for entry in entries}
    return StoreStats(
        logical_bytes=sum(entry.size * ELEMENT_TYPES[entry.dtype].itemsize for entry in entries),
        stored_bytes=bytes_on_disk(repository.path),
        versions=len(repository.commits.ids()),
        tensors=len(entries),
        unique_tensors=len(unique),
        deltas=sum(record.base is not None for record in records),
        dedup_hits=len(entries) - len(unique),
        lossy_tensors=sum(record.lossy for record in records),
        longest_chain=max((record.depth for record in records), default=0),
    )


Given = RepositoryConfig | Mapping[str, Any] | str | None


class Repository:
    """Versions of models, exact to the bit.

    A folder with `format`, `refs`, `commits/`, `packs/` and `lock`; one writer at a time, any number of readers.
    """

    def __init__(self, path: Path, config: RepositoryConfig, disk: RepositoryDisk | None = None) -> None:
        self.path, self.config = path, config
        self.disk = disk or RepositoryDisk()
        self.temporary = path / "tmp"
        self.commits = CommitStore(self.disk, path / "commits", self.temporary)
        self.objects = ObjectStore(path / "packs", config.memory_limit_mb << 20, config.memory_mapping)
        self.writing = WriterLock(path / "lock")
        self._ingest: Ingest | None = None

    @classmethod
    def init(cls, path: str | Path, config: Given = None, disk: RepositoryDisk | None = None) -> Repository:
        path, disk = Path(path), disk or RepositoryDisk()
        check_unused(path)
        checked = repository_config(config)
        with new_folder(path):
            for folder in FOLDERS:
                (path / folder).mkdir(parents=True)
            disk.sync_folder(path)
            write_references(disk, path / "refs", path / "tmp" / uuid4().hex, References())
            value = {"format": FORMAT, "config": checked.as_dict()}
            disk.write_file(path / "tmp" / uuid4().hex, path / "format", seal(value))
        return cls(path, checked, disk)

    @classmethod
    def open(cls, path: str | Path, config: Given = None, disk: RepositoryDisk | None = None) -> Repository:
        path = Path(path)
        if not (path / "format").exists():
            raise UsageError(f"{path} is not a weight repository; make one with: assay weights init {path}")
        check_own_folders(path, FOLDERS)
        stored = repository_config(read_stored_config(path, unseal(path / "format")))
        return cls(path, repository_config(config, base=stored), disk)

    @property
    def cores(self) -> int:
        return len(os.sched_getaffinity(0))

    @property
    def workers(self) -> int:
        """Tensors in flight: the kernels let go of the interpreter, so several really run at once."""
        return 1 if self.config.streaming_operations else self.cores

    # ── versions ──

    @property
    def references(self) -> References:
        return read_references(self.path / "refs")

    def _change(self, change: Callable[[References], References]) -> None:
        write_references(self.disk, self.path / "refs", self.temporary / uuid4().hex, change(self.references))

    @property
    def head(self) -> str:
        """The branch that commits go to."""
        return self.references.head

    def save(self, name: str, tensor: Tensor) -> None:
        """Stages one tensor for the next commit. It is stored at once; other writers wait until that commit."""
        if self._ingest is None:
            self._ingest = self._begin(None)
        self._ingest.add(name, tensor)

    def discard(self) -> None:
        """Forgets what was saved since the last commit and lets other writers go on."""
        ingest, self._ingest = self._ingest, None
        if ingest is not None:
            ingest.__exit__(None, None, None)

    def commit(self, tensors: Mapping[str, Tensor] | None = None, message: str = "", branch: str | None = None) -> str:
        """What was saved since the last commit and `tensors`, as one version on `branch` (default: the current one)."""
        ingest, self._ingest = self._ingest or self._begin(branch), None
        with ingest:
            for name, tensor in (tensors or {}).items():
                ingest.add(name, tensor)
            commit = self._record(ingest.finish(), message, branch)
        self._clean_up()
        return commit.id

    def _begin(self, branch: str | None) -> Ingest:
        from assay.weights.versions.ingest import Ingest

        with self.writing:
            return Ingest(self, self._parents(self.references, check_name(branch) if branch else None))

    def _parents(self, references: References, branch: str | None) -> tuple[str, ...]:
        branch = branch or references.head
        tip = references.branches.get(branch) or references.branches.get(references.head)
        return (tip,) if tip else ()

    def _record(self, entries: tuple[TensorEntry, ...], message: str, branch: str | None) -> Commit:
        references = self.references
        branch = branch or references.head
        parents = self._parents(references, branch)
        commit = self.commits.write(Commit("", parents, message, branch, time.time(), entries))
        self.move(branch, commit.id)
        return commit

    def resolve(self, ref: str) -> str:
        references = self.references
        for known in (references.branches, references.tags):
            if ref in known:
                return known[ref]
        found = [commit_id for commit_id in self.commits.ids() if commit_id.startswith(ref)] if len(ref) >= 4 else []
        if len(found) == 1:
            return found[0]
        why = "stands for several commits" if found else "is not a branch, a tag or a commit"
        raise UsageError(f"{ref!r} {why} of {self.path}; see: assay weights log {self.path}")

    def show(self, ref: str) -> Commit:
        return self.commits.read(self.resolve(ref))

    def log(self, ref: str | None = None) -> list[Commit]:
        """The commit and everything it descends from, the newest first."""
        references = self.references
        start = self.resolve(ref) if ref else references.branches.get(references.head)
        found: dict[str, Commit] = {}
        todo = [start] if start else []
        while todo:
            commit_id = todo.pop()
            if commit_id not in found:
                found[commit_id] = self.commits.read(commit_id)
                todo.extend(found[commit_id].parents)
        return sorted(found.values(), key=lambda commit: commit.created_at, reverse=True)

    def branch(self, name: str, ref: str | None = None) -> None:
        """Makes (or moves) a branch to `ref`, by default to the tip of the current one."""
        with self.writing:
            commit_id = self.resolve(ref or self.head)
            self._change(lambda current: current.with_branch(name, commit_id))

    def move(self, name: str, commit_id: str) -> None:
        """Only under the writer's lock: the branch now ends at this commit."""
        self._change(lambda current: current.with_branch(name, commit_id))

    def delete_branch(self, name: str) -> None:
        with self.writing:
            references = self.references
            if name not in references.branches or name == references.head:
                raise UsageError(f"branch {name!r} cannot be deleted: it is the current one, or not there")
            left = {key: value for key, value in references.branches.items() if key != name}
            self._change(lambda current: replace(current, branches=left))

    def switch(self, name: str) -> None:
        with self.writing:
            branches = self.references.branches
            if name not in branches:
                make = f"make it with: assay weights branch {self.path} {name}"
                raise UsageError(f"{unknown('branch', name, branches)}; {make}")
            self._change(lambda current: replace(current, head=name))

    def tag(self, name: str, ref: str | None = None) -> None:
        with self.writing:
            commit_id = self.resolve(ref or self.head)
            if self.references.tags.get(name, commit_id) != commit_id:
                raise UsageError(f"there is a tag {name!r} already, and tags do not move; choose another name")
            self._change(lambda current: current.with_tag(name, commit_id))

    def add_tags(self, tags: Mapping[str, str]) -> None:
        """Tags from elsewhere; those that are here stay as they are."""
        self._change(lambda current: replace(current, tags={**tags, **current.tags}))

    def diff(self, a: str, b: str) -> Diff:
        return diff_of(self.show(a), self.show(b))

    def merge(self, other: str, strategy: str = "refuse", message: str = "") -> str:
        """Brings `other` into the current branch: see `merge.merge_entries` for the strategies."""
        from assay.weights.versions.merge import merge

        with self.writing:
            return merge(self, other, strategy, message)

    # ── tensors ──

    def checkout(self, ref: str, names: Iterable[str] | None = None) -> dict[str, Tensor]:
        entries = {entry.name: entry for entry in self.show(ref).entries}
        wanted = list(entries) if names is None else list(dict.fromkeys(names))
        for name in wanted:
            if name not in entries:
                listing = f"see: assay weights log {self.path} {ref}"
                raise UsageError(f"{unknown('tensor', name, entries, of=ref)}; {listing}")
        if self.config.lazy_loading:
            return LazyTensors(wanted, lambda name: self._read([entries[name]], Slabs(0))[0])
        slabs = Slabs(sum(entries[name].nbytes for name in wanted))
        return dict(zip(wanted, self._read([entries[name] for name in wanted], slabs), strict=True))

    load = checkout

    def tensor(self, ref: str, name: str) -> Tensor:
        return self.checkout(ref, [name])[name]

    def _read(self, entries: list[TensorEntry], slabs: Slabs) -> list[Tensor]:
        return self.objects.read_all([bytes.fromhex(entry.digest) for entry in entries], slabs, self._run)

    def _run(self, readings: list[ChunkReading]) -> None:
        if self.workers > 1:
            with ThreadPoolExecutor(self.workers) as pool:
                for _ in pool.map(ChunkReading.run, readings):
                    pass
        else:
            for reading in readings:
                reading.run()

    def find(
        self, ref: str, name: str = "*", shape: tuple[int, ...] | None = None, dtype: str | None = None
    ) -> list[TensorEntry]:
        """Tensors of a version by name (with * and ?), shape and dtype, without reading any."""
        from fnmatch import fnmatchcase

        return [
            entry
            for entry in self.show(ref).entries
            if fnmatchcase(entry.name, name)
            and (shape is None or entry.shape == tuple(shape))
            and (dtype is None or entry.dtype == dtype)
        ]

    # ── upkeep ──

    def stats(self) -> StoreStats:

        return repository_stats(self)

    def verify(self) -> Verification:
        from assay.weights.verifier import verify

        return verify(self)

    def gc(self, recluster: bool = False) -> Collected:
        """Drops what no branch or tag leads to and repacks the rest; `recluster` also looks for better bases."""
        from assay.weights.packs.garbage_collector import collect

        with self.writing:
            return collect(self, recluster)

    def _clean_up(self) -> None:
        every = {"never": 0, "normal": 64, "aggressive": 1}[self.config.cleanup_frequency]
        if every == 1:
            self.objects.cache.clear()
        if self.config.enable_gc and every and len(self.commits.ids()) % every == 0:
            self.gc()
