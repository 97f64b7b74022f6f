"""Removes from an object store what no branch or tag leads to: commits, packs of which nothing is needed, leftovers.

A pack of which something is needed stays as it is: what is in an object store is not rewritten.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from assay.errors import UsageError
from assay.weights.packs.collected import Collected
from assay.weights.remotes.bucket_remote import COLLECTOR, PATIENCE_S, WRITERS, BucketRemote
from assay.weights.remotes.lease import Lease, await_end
from assay.weights.remotes.remote_pack import RemotePack


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
