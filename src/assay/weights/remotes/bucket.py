"""A repository in an object store, or anywhere else that fsspec reaches.

Any number push at once, each under a lease of its own: what they send has names that nobody else's content can have,
and the references are changed by `ReferenceLog`. Who collects announces it first; pushes that come then wait, and the
collector waits for those that are under way. Both look for the other after they have announced themselves, so that
one of two sees the other whatever the order.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from assay.errors import DataError, UsageError
from assay.weights.codec.codec_methods import FORMAT
from assay.weights.packs.garbage_collector import Collected
from assay.weights.remotes.lease import Lease, await_end
from assay.weights.remotes.remote import Change, Remote, RemotePack
from assay.weights.remotes.remote_files import ReferenceLog, RemoteFiles
from assay.weights.versions.commit import References, seal

WRITERS = "writers"
COLLECTOR = ("collector", "lease")
PATIENCE_S = 600.0
_ATTEMPTS = 1000


class BucketRemote(Remote):
    def __init__(self, files: RemoteFiles) -> None:
        super().__init__(files)
        self.log = ReferenceLog(files)
        self._lease: Lease | None = None

    @contextmanager
    def writing(self) -> Iterator[None]:
        if not self.exists():
            self.files.make()
        while True:
            await_end(self.files, PATIENCE_S, *COLLECTOR)
            lease = Lease(self.files, WRITERS, uuid4().hex)
            lease.take()
            with lease:
                if self.files.exists(*COLLECTOR):
                    continue
                self._lease = lease
                try:
                    yield
                finally:
                    self._lease = None
                return

    def init(self, config: dict[str, Any]) -> None:
        self.log.begin()
        try:
            self.files.create(seal({"format": FORMAT, "config": config}), "format")
        except FileExistsError:
            return

    def references(self) -> References:
        self.config()
        references = self.log.newest().references
        self._check()
        return references

    def change(self, change: Change) -> None:
        for _ in range(_ATTEMPTS):
            # While our lease is there nobody has collected, so whatever we sent and relied on is there, too. If it
            # is lost after this look, the collector has followed this version with one of its own.
            version = self.log.newest()
            self._check()
            if self.log.follow(version, change(version.references)):
                return
        raise DataError(f"{self.url} is being changed by others all the time; try again")

    def write_commit(self, data: bytes, commit_id: str) -> None:
        self._check()
        self.files.write(data, "commits", commit_id)

    def add_pack(self, pack: Path) -> None:
        self._check()
        self.files.upload(pack, "packs", pack.name)
        self._check()

    def _check(self) -> None:
        if self._lease is not None:
            self._lease.check()

    def fence(self) -> References:
        """Shuts out writers, for a collector: none that read the references before this can change them any more."""
        while True:
            version = self.log.newest()
            if self.log.follow(version, replace(version.references)):
                return version.references


# Removes from an object store what no branch or tag leads to: commits, packs of which nothing is needed, leftovers.
#
# A pack of which something is needed stays as it is: what is in an object store is not rewritten.


def collect_bucket(remote: BucketRemote) -> Collected:
    if not remote.exists():
        raise UsageError(f"{remote.url} is not a weight repository")
    with _collecting(remote) as lease:
        for name in sorted(remote.files.names(WRITERS)):
            await_end(remote.files, PATIENCE_S, WRITERS, name)
        tips = remote.fence().tips()
        commits, digests = _reachable(remote, tips)
        packs = remote.packs()
        dead = _dead_packs(packs, digests)
        dead_commits = remote.files.names("commits") - commits
        # Commits go first: a commit must never be there without its tensors.
        for folder, names in (("commits", dead_commits), ("packs", dead), ("tmp", remote.files.names("tmp"))):
            for name in sorted(names):
                lease.check()
                remote.files.remove(folder, name)
        remote.log.forget_old()
    left = [pack for pack in packs if pack.name not in dead]
    kept = {record.digest for pack in left for record in pack.records}
    gone = {record.digest for pack in packs for record in pack.records} - kept
    sizes = [sum(pack.size for pack in some) for some in (packs, left)]
    return Collected(len(dead_commits), len(gone), len(packs), len(left), *sizes)


@contextmanager
def _collecting(remote: BucketRemote) -> Iterator[Lease]:
    lease = Lease(remote.files, *COLLECTOR)
    while not lease.take():
        await_end(remote.files, PATIENCE_S, *COLLECTOR)
    with lease:
        yield lease


def _reachable(remote: BucketRemote, tips: set[str]) -> tuple[set[str], set[bytes]]:
    """Commits, and the tensors that they name."""
    commits: set[str] = set()
    digests: set[bytes] = set()
    todo = list(tips)
    while todo:
        commit_id = todo.pop()
        if commit_id not in commits:
            commits.add(commit_id)
            commit, _ = remote.commit(commit_id)
            todo.extend(commit.parents)
            digests.update(bytes.fromhex(entry.digest) for entry in commit.entries)
    return commits, digests


def _dead_packs(packs: list[RemotePack], digests: set[bytes]) -> set[str]:
    """A tensor may be in several packs, on another base in each: all of them stay."""
    bases: dict[bytes, set[bytes]] = {}
    for pack in packs:
        for record in pack.records:
            bases.setdefault(record.digest, set()).update(() if record.base is None else (record.base,))
    live: set[bytes] = set()
    todo = list(digests)
    while todo:
        digest = todo.pop()
        if digest not in live:
            live.add(digest)
            todo.extend(bases.get(digest, ()))
    return {pack.name for pack in packs if live.isdisjoint(record.digest for record in pack.records)}
