"""Push, pull and clone.

Tensors are compared one by one through the indexes of the packs, so only those that the other side lacks are carried,
as the differences they are stored as. What comes from a remote is decoded and compared with its digest before any
branch refers to it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from assay.errors import DataError, UsageError
from assay.names import unknown
from assay.weights.element_types import bits_of, content_digest
from assay.weights.packs.pack_files import PackWriter
from assay.weights.packs.tensor_record import TensorRecord
from assay.weights.remotes.lease import LostLease
from assay.weights.remotes.open_remote import open_remote
from assay.weights.remotes.remote import Change, Remote, RemotePack, VanishedPack
from assay.weights.repository import Repository
from assay.weights.repository_disk import WorkFolder, check_unused, new_folder
from assay.weights.versions.commit import Commit, References

_ATTEMPTS = 8


@dataclass(frozen=True)
class Carried:
    commits: int
    tensors: int
    bytes: int


def push(repository: Repository, url: str, branch: str | None = None, force: bool = False) -> Carried:
    """Sends a branch and every tag on its way; refuses to drop commits of the remote unless told to."""
    remote = open_remote(url)
    references = repository.references
    name = branch or references.head
    if name not in references.branches:
        raise UsageError(unknown("branch", name, references.branches))
    history = {commit.id: commit for commit in repository.log(references.branches[name])}
    tags = {tag: tip for tag, tip in references.tags.items() if tip in history}

    def move(theirs: References) -> References:
        if not force and theirs.branches.get(name, references.branches[name]) not in history:
            raise UsageError(
                f"{url} has commits on {name!r} that are not here; pull and merge first, or push with --force"
            )
        others = [tag for tag, tip in tags.items() if theirs.tags.get(tag, tip) != tip]
        if others and not force:
            raise UsageError(
                f"{url} has the tag {others[0]!r} on another commit, and tags do not move; "
                "choose another name for yours, or push with --force"
            )
        return replace(
            theirs, branches={**theirs.branches, name: references.branches[name]}, tags={**theirs.tags, **tags}
        )

    for attempt in range(_ATTEMPTS):
        try:
            with remote.writing():
                return _push(repository, remote, history, move)
        except LostLease:
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError


def _push(repository: Repository, remote: Remote, history: dict[str, Commit], moved: Change) -> Carried:
    """While writing to the remote: tensors, then commits, then the branch, so that it never refers to nothing."""
    if not remote.exists():
        remote.init(repository.config.as_dict())
    # Looked at before anything is sent, and again when the branch is moved.
    moved(remote.references())
    known = remote.files.names("commits")
    commits = [commit for commit_id, commit in history.items() if commit_id not in known]
    missing = _missing(repository, commits, set(remote.records()))
    sent = _send(repository, remote, missing) if missing else 0
    for commit in reversed(commits):
        remote.write_commit(repository.commits.raw(commit.id), commit.id)
    remote.change(moved)
    return Carried(len(commits), len(missing), sent)


def _missing(repository: Repository, commits: list[Commit], known: set[bytes]) -> list[TensorRecord]:
    """Tensors to send and what they are differences to, bases first."""
    found: dict[bytes, TensorRecord] = {}
    for commit in commits:
        for entry in commit.entries:
            chain = []
            current: bytes | None = bytes.fromhex(entry.digest)
            while current is not None and current not in known and current not in found:
                record = repository.objects.record(current)
                chain.append(record)
                current = record.base
            found |= {record.digest: record for record in reversed(chain)}
    return list(found.values())


def _send(repository: Repository, remote: Remote, records: list[TensorRecord]) -> int:
    with WorkFolder(repository.temporary) as folder, PackWriter(repository.disk, folder, folder) as pack:
        for record in records:
            places = tuple(
                pack.add_chunk(chunk.method, repository.objects.read_stored_chunk(record.digest, number))
                for number, chunk in enumerate(record.chunks)
            )
            pack.add_record(record._replace(chunks=places))
        path = pack.finish()
        remote.add_pack(path)
        return path.stat().st_size


def pull(repository: Repository, url: str, branch: str | None = None) -> Carried:
    """Brings a branch (or all) and its tags; a branch that has gone another way here is left, and said so."""
    remote = open_remote(url)
    if not remote.exists():
        raise UsageError(f"{url} is not a weight repository")
    theirs = remote.references()
    wanted = {branch: theirs.branches[branch]} if branch and branch in theirs.branches else theirs.branches
    if branch and branch not in theirs.branches:
        raise UsageError(unknown("branch", branch, theirs.branches, of=url))
    with repository.writing:
        commits = _fetch_commits(repository, remote, [*wanted.values(), *theirs.tags.values()])
        carried, size = _fetch_tensors(repository, remote, [commit for commit, _ in commits.values()])
        for commit_id, (_, data) in commits.items():
            repository.commits.put(commit_id, data)
        for name, tip in wanted.items():
            ours = repository.references.branches.get(name)
            if ours is not None and ours not in {commit.id for commit in repository.log(tip)}:
                if tip in {commit.id for commit in repository.log(ours)}:
                    continue
                raise UsageError(
                    f"branch {name!r} has other commits here than at {url}; they are here now: "
                    f"merge {tip[:12]} with: assay weights merge {repository.path} {tip[:12]}"
                )
            repository.move(name, tip)
        repository.add_tags(theirs.tags)
    return Carried(len(commits), carried, size)


def _fetch_commits(repository: Repository, remote: Remote, tips: list[str]) -> dict[str, tuple[Commit, bytes]]:
    fetched: dict[str, tuple[Commit, bytes]] = {}
    todo = list(tips)
    while todo:
        commit_id = todo.pop()
        if commit_id not in fetched and commit_id not in repository.commits:
            fetched[commit_id] = remote.commit(commit_id)
            todo.extend(fetched[commit_id][0].parents)
    return fetched


def _fetch_tensors(repository: Repository, remote: Remote, commits: list[Commit]) -> tuple[int, int]:
    """Fetches the tensors of commits; begins again if the remote is repacked meanwhile."""
    for _ in range(_ATTEMPTS - 1):
        try:
            return _fetch_once(repository, remote, commits)
        except VanishedPack:
            continue
    return _fetch_once(repository, remote, commits)


def _fetch_once(repository: Repository, remote: Remote, commits: list[Commit]) -> tuple[int, int]:
    repository.objects.refresh()
    available = remote.records()
    needed: dict[bytes, tuple[RemotePack, TensorRecord]] = {}
    for commit in commits:
        for entry in commit.entries:
            current: bytes | None = bytes.fromhex(entry.digest)
            while current is not None and current not in repository.objects and current not in needed:
                if current not in available:
                    raise DataError(f"{remote.url} lacks tensor {entry.name!r} of commit {commit.id[:12]}")
                needed[current] = available[current]
                current = needed[current][1].base
    if not needed:
        _check_entries(repository, remote, commits)
        return 0, 0
    with PackWriter(repository.disk, repository.temporary, repository.objects.folder) as pack:
        for source, record in needed.values():
            places = tuple(pack.add_chunk(chunk.method, source.chunk(chunk)) for chunk in record.chunks)
            pack.add_record(record._replace(chunks=places))
        path = pack.finish()
    repository.objects.refresh()
    try:
        _check(repository, list(needed))
        _check_entries(repository, remote, commits)
    except DataError:
        repository.disk.remove(path)
        repository.objects.refresh()
        raise
    return len(needed), path.stat().st_size


def _check_entries(repository: Repository, remote: Remote, commits: list[Commit]) -> None:
    """A digest covers dtype and shape, so a commit that says others of its tensor is not what anybody committed."""
    for commit in commits:
        for entry in commit.entries:
            record = repository.objects.record(bytes.fromhex(entry.digest))
            if (record.kind.name, record.shape) != (entry.dtype, entry.shape):
                raise DataError(
                    f"{remote.url}: commit {commit.id[:12]} says another dtype or shape of tensor {entry.name!r} "
                    "than its digest does; nothing taken"
                )


def _check(repository: Repository, digests: list[bytes]) -> None:
    for digest in digests:
        record = repository.objects.record(digest)
        if content_digest(bits_of(repository.objects.read(digest)), record.kind, record.shape) != digest:
            raise DataError(f"tensor {digest.hex()[:16]}… of the remote is not what its digest says; nothing taken")


def clone(url: str, path: str | Path) -> Repository:
    remote = open_remote(url)
    if not remote.exists():
        raise UsageError(f"{url} is not a weight repository")
    path, config = Path(path), remote.config()
    check_unused(path)
    with new_folder(path):
        repository = Repository.init(path, config)
        pull(repository, url)
        head = remote.references().head
        if head in repository.references.branches:
            repository.switch(head)
    return repository
