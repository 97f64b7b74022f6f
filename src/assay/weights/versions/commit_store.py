from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from assay.errors import DataError
from assay.untrusted.json_text import parse_json
from assay.untrusted.read_limit import SESSION
from assay.untrusted.regular_file import read_bytes
from assay.untrusted.unreadable import Unreadable
from assay.weights.digest import DIGEST_BYTES, bytes_digest
from assay.weights.dtype import ELEMENT_TYPES
from assay.weights.packs.tensor_record import is_storable
from assay.weights.repository_disk import RepositoryDisk
from assay.weights.versions.commit import Commit, TensorEntry

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
