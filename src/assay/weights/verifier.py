"""Reads everything: every pack, every tensor down to its bits, every commit and every reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.errors import AssayError, DataError
from assay.weights.element_types import bits_of, content_digest
from assay.weights.packs.pack_files import PackReader
from assay.weights.versions.commit import unseal

if TYPE_CHECKING:
    from assay.weights.repository import Repository


@dataclass(frozen=True)
class Verification:
    tensors: int
    commits: int
    packs: int
    problems: tuple[str, ...]
    """Each names the file or the tensor."""

    @property
    def passed(self) -> bool:
        return not self.problems


def verify(repository: Repository, ignore: tuple[str, ...] = ()) -> Verification:
    """`ignore`: endings of pack files that are another format's."""
    problems: list[str] = []

    def note(error: AssayError) -> None:
        problems.append(str(error))

    try:
        unseal(repository.path / "format")
    except DataError as error:
        note(error)
    tensors = packs = 0
    for path in sorted((repository.path / "packs").iterdir()):
        if ignore and path.name.endswith(ignore):
            continue
        packs += 1
        try:
            pack = PackReader(path)
            if pack.count_uncovered():
                problems.append(f"{path} has {pack.count_uncovered()} bytes that belong to no tensor")
        except DataError as error:
            note(error)
    try:
        repository.objects.refresh()
        repository.objects.cache.clear()
        for record in list(repository.objects.records()):
            tensors += 1
            problems.extend(_check_tensor(repository, record.digest))
    except DataError as error:
        note(error)
    commits = _check_commits(repository, problems)
    return Verification(tensors, commits, packs, tuple(dict.fromkeys(problems)))


def _check_tensor(repository: Repository, digest: bytes) -> list[str]:
    try:
        tensor = repository.objects.read(digest)
        record = repository.objects.record(digest)
    except DataError as error:
        return [str(error)]
    if content_digest(bits_of(tensor), record.kind, record.shape) != digest:
        return [f"tensor {digest.hex()[:16]}… does not have the content that its digest says"]
    return []


def _check_commits(repository: Repository, problems: list[str]) -> int:
    checked = 0
    for path in sorted((repository.path / "commits").iterdir()):
        checked += 1
        try:
            repository.commits.raw(path.name)
            commit = repository.commits.read(path.name)
        except DataError as error:
            problems.append(str(error))
            continue
        for entry in commit.entries:
            digest = bytes.fromhex(entry.digest)
            if digest not in repository.objects:
                problems.append(f"commit {commit.id[:12]}: tensor {entry.name!r} is in no pack")
                continue
            record = repository.objects.record(digest)
            if (record.kind.name, record.shape) != (entry.dtype, entry.shape):
                problems.append(f"commit {commit.id[:12]}: tensor {entry.name!r} is stored with another dtype or shape")
        for parent in commit.parents:
            if parent not in repository.commits:
                problems.append(f"commit {commit.id[:12]}: its parent {parent[:12]} is missing")
    try:
        for name, tip in {**repository.references.branches, **repository.references.tags}.items():
            if tip not in repository.commits:
                problems.append(f"{name} refers to commit {tip[:12]}, which is missing")
    except DataError as error:
        problems.append(str(error))
    return checked
