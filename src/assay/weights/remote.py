"""A repository's folder anywhere that fsspec reaches."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import Any
from uuid import uuid4

from assay.errors import DataError, MissingExtra, UsageError
from assay.weights.codec_methods import FORMAT
from assay.weights.commit import Commit
from assay.weights.commit_store import parse_commit
from assay.weights.config import stored_config
from assay.weights.digest import bytes_digest
from assay.weights.references import References, parse_references
from assay.weights.remote_pack import RemotePack
from assay.weights.sealed import seal, unseal_bytes
from assay.weights.tensor_record import TensorRecord


class Remote:
    def __init__(self, url: str) -> None:
        try:
            import fsspec
        except ImportError:
            raise MissingExtra("fsspec, which remotes need,", "weights") from None
        self.url = url
        try:
            self._files, self._root = fsspec.core.url_to_fs(url)
        except (ValueError, ImportError) as error:
            raise UsageError(f"{url} cannot be reached: {error}") from None
        self._packs: list[RemotePack] | None = None

    def exists(self) -> bool:
        return bool(self._files.exists(self._path("format")))

    def _path(self, *parts: str) -> str:
        return posixpath.join(self._root, *parts)

    def read(self, *parts: str) -> bytes:
        try:
            return bytes(self._files.cat_file(self._path(*parts)))
        except (OSError, FileNotFoundError) as error:
            raise DataError(f"{self.url}/{'/'.join(parts)} cannot be read: {error}") from None

    def write(self, data: bytes, *parts: str) -> None:
        """Under another name first, so that nobody reads half of it."""
        target = self._path(*parts)
        temporary = f"{self._path('tmp')}/{uuid4().hex}"
        self._files.makedirs(posixpath.dirname(target), exist_ok=True)
        self._files.makedirs(self._path("tmp"), exist_ok=True)
        self._files.pipe_file(temporary, data)
        self._files.mv(temporary, target)

    def upload(self, source: Path, *parts: str) -> None:
        target = self._path(*parts)
        temporary = f"{self._path('tmp')}/{uuid4().hex}"
        for folder in (posixpath.dirname(target), self._path("tmp")):
            self._files.makedirs(folder, exist_ok=True)
        self._files.put_file(str(source), temporary)
        self._files.mv(temporary, target)

    def names(self, folder: str) -> set[str]:
        self._files.invalidate_cache()
        if not self._files.exists(self._path(folder)):
            return set()
        return {posixpath.basename(path.rstrip("/")) for path in self._files.ls(self._path(folder), detail=False)}

    def init(self, config: dict[str, Any]) -> None:
        for folder in ("commits", "packs", "tmp"):
            self._files.makedirs(self._path(folder), exist_ok=True)
        self.write_references(References())
        self.write(seal({"format": FORMAT, "config": config}), "format")

    def config(self) -> Any:
        where = f"{self.url}/format"
        return stored_config(self.url, unseal_bytes(where, self.read("format")))

    def references(self) -> References:
        self.config()
        where = f"{self.url}/refs"
        return parse_references(where, unseal_bytes(where, self.read("refs")))

    def write_references(self, references: References) -> None:
        value = {"head": references.head, "branches": references.branches, "tags": references.tags}
        self.write(seal(value), "refs")

    def commit(self, commit_id: str) -> tuple[Commit, bytes]:
        data = self.read("commits", commit_id)
        if bytes_digest(data).hex() != commit_id:
            raise DataError(f"{self.url}/commits/{commit_id} is damaged: its content does not match its name")
        return parse_commit(commit_id, data), data

    def packs(self) -> list[RemotePack]:
        if self._packs is None:
            names = sorted(name for name in self.names("packs") if name.endswith(".pack"))
            self._packs = [RemotePack(self._files, self._path("packs", name)) for name in names]
        return self._packs

    def records(self) -> dict[bytes, tuple[RemotePack, TensorRecord]]:
        return {record.digest: (pack, record) for pack in self.packs() for record in pack.records}
