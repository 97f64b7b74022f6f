"""Small files with a checksum as their last line, so that a changed byte is noticed."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from assay.errors import DataError, UsageError
from assay.files.json_text import parse_json
from assay.files.reading import SESSION, Unreadable, read_bytes
from assay.weights.element_types import DIGEST_BYTES, ELEMENT_TYPES, bytes_digest
from assay.weights.packs.tensor_record import is_storable
from assay.weights.repository_disk import RepositoryDisk


def seal(value: dict[str, Any]) -> bytes:
    body = json.dumps(value, sort_keys=True, indent=1).encode() + b"\n"
    return body + _checksum(body) + b"\n"


def unseal(path: Path) -> dict[str, Any]:
    try:
        data = read_bytes(path, SESSION)
    except FileNotFoundError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    return unseal_bytes(str(path), data)


def unseal_bytes(where: str, data: bytes) -> dict[str, Any]:
    body, last = data[:-17], data[-17:]
    if last != _checksum(body) + b"\n":
        raise DataError(f"{where} is damaged: its checksum does not match")
    try:
        value = parse_json(body, where, own=True)
    except Unreadable:
        value = None
    if not isinstance(value, dict):
        raise DataError(f"{where} is damaged: not a mapping")
    return value


def _checksum(body: bytes) -> bytes:
    from xxhash import xxh3_64_hexdigest

    return str(xxh3_64_hexdigest(body)).encode()


class TensorEntry(NamedTuple):
    """A tensor of a version: what it is called, what it is, and the hash of its content."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    digest: str

    @property
    def size(self) -> int:
        product = 1
        for length in self.shape:
            product *= length
        return product

    @property
    def nbytes(self) -> int:
        return self.size * ELEMENT_TYPES[self.dtype].itemsize


@dataclass(frozen=True)
class Commit:
    id: str
    parents: tuple[str, ...]
    message: str
    branch: str
    created_at: float
    """Seconds since 1970, UTC."""
    entries: tuple[TensorEntry, ...]
    """Sorted by name."""


@dataclass(frozen=True)
class Diff:
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]


def diff_of(before: Commit, after: Commit) -> Diff:
    left = {entry.name: entry for entry in before.entries}
    right = {entry.name: entry for entry in after.entries}
    both = sorted(left.keys() & right.keys())
    return Diff(
        added=tuple(sorted(right.keys() - left.keys())),
        removed=tuple(sorted(left.keys() - right.keys())),
        changed=tuple(name for name in both if left[name] != right[name]),
        unchanged=tuple(name for name in both if left[name] == right[name]),
    )


LARGEST_COMMIT = 1 << 28
_LATEST = 253402300799.0
"""The end of the year 9999, in seconds since 1970."""
_DIGEST = re.compile(rf"[0-9a-f]{{{2 * DIGEST_BYTES}}}")


class CommitStore:
    """Commits as small compressed files named by the hash of their bytes."""

    def __init__(self, disk: RepositoryDisk, folder: Path, temporary: Path) -> None:
        self._disk, self.folder, self._temporary = disk, folder, temporary
        self._known: dict[str, Commit] = {}

    def ids(self) -> set[str]:
        return {path.name for path in self.folder.iterdir() if len(path.name) == 2 * DIGEST_BYTES}

    def __contains__(self, commit_id: str) -> bool:
        return (self.folder / commit_id).is_file()

    def write(self, commit: Commit) -> Commit:
        """`commit.id` is ignored; the one it gets is returned with it."""
        from zstandard import ZstdCompressor

        body = {
            "parents": commit.parents,
            "message": commit.message,
            "branch": commit.branch,
            "created_at": commit.created_at,
            "entries": [(e.name, e.dtype, e.shape, e.digest) for e in commit.entries],
        }
        data = bytes(ZstdCompressor(level=6).compress(json.dumps(body, separators=(",", ":")).encode()))
        commit_id = bytes_digest(data).hex()
        self.put(commit_id, data)
        self._known[commit_id] = replace(commit, id=commit_id)
        return self._known[commit_id]

    def put(self, commit_id: str, data: bytes) -> None:
        self._disk.write_file(self._temporary / uuid4().hex, self.folder / commit_id, data)

    def raw(self, commit_id: str) -> bytes:
        try:
            data = read_bytes(self.folder / commit_id, SESSION)
        except OSError as error:
            raise DataError(f"commit {commit_id[:12]} cannot be read: {error.strerror}") from None
        if bytes_digest(data).hex() != commit_id:
            raise DataError(f"{self.folder / commit_id} is damaged: its content does not match its name")
        return data

    def read(self, commit_id: str) -> Commit:
        if commit_id not in self._known:
            self._known[commit_id] = parse_commit(commit_id, self.raw(commit_id))
        return self._known[commit_id]

    def remove(self, commit_id: str) -> None:
        self._known.pop(commit_id, None)
        self._disk.remove(self.folder / commit_id)


def parse_commit(commit_id: str, data: bytes) -> Commit:
    from zstandard import ZstdDecompressor, ZstdError, frame_content_size

    try:
        if not 0 <= frame_content_size(data) <= LARGEST_COMMIT:
            raise DataError(f"commit {commit_id[:12]} claims to be larger than any commit may be")
        body = parse_json(ZstdDecompressor().decompress(data, max_output_size=LARGEST_COMMIT), commit_id, own=True)
        entries = tuple(_entry(commit_id, *entry) for entry in body["entries"])
        parents = tuple(str(parent) for parent in body["parents"])
        if not all(map(_is_digest, parents)):
            raise ValueError("parents")
        created_at = float(body["created_at"])
        if not 0 <= created_at <= _LATEST:
            raise ValueError(f"its time, {created_at:g}, is not one between the years 1970 and 9999")
        return Commit(commit_id, parents, str(body["message"]), str(body["branch"]), created_at, entries)
    except Unreadable as error:
        raise DataError(f"commit {commit_id[:12]} is not a commit: it {error.reason}") from None
    except (ZstdError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise DataError(f"commit {commit_id[:12]} is not a commit: {error}") from None


def _entry(commit_id: str, name: Any, dtype: Any, shape: Any, digest: Any) -> TensorEntry:
    good = (
        isinstance(name, str)
        and isinstance(dtype, str)
        and dtype in ELEMENT_TYPES
        and isinstance(digest, str)
        and _is_digest(digest)
    )
    good = good and isinstance(shape, list) and all(type(length) is int and length >= 0 for length in shape)
    good = good and is_storable(shape)
    if not good:
        raise DataError(f"commit {commit_id[:12]} has an entry that makes no sense: {str(name)[:80]!r}")
    return TensorEntry(name, dtype, tuple(shape), digest)


def _is_digest(text: str) -> bool:
    return _DIGEST.fullmatch(text) is not None


# Branches and tags, all in one sealed file, so that a change of any of them is one rename.

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
