"""A repository somewhere else: what it holds, and how a writer changes what its branches refer to.

Two kinds, each of which keeps every acknowledged branch whoever else writes: see `folder_remote` and `bucket_remote`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from assay.errors import DataError
from assay.weights.config import read_stored_config
from assay.weights.digest import bytes_digest
from assay.weights.packs.tensor_record import TensorRecord
from assay.weights.remotes.remote_files import RemoteFiles
from assay.weights.remotes.remote_pack import RemotePack, VanishedPack
from assay.weights.versions.commit import Commit
from assay.weights.versions.commit_store import parse_commit
from assay.weights.versions.references import References
from assay.weights.versions.sealed import unseal_bytes

Change = Callable[[References], References]
_PATIENCE = 8


class Remote(ABC):
    def __init__(self, files: RemoteFiles) -> None:
        self.files = files
        self.url = files.url

    @abstractmethod
    def init(self, config: dict[str, Any]) -> None:
        """Makes it a repository, unless it is one. Only while writing."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[None]:
        """While it lasts, nothing is collected that was there at its beginning or came since."""

    @abstractmethod
    def references(self) -> References: ...

    @abstractmethod
    def change(self, change: Change) -> None:
        """Only while writing. Calls `change` with what the branches are now, again if somebody else was faster."""

    @abstractmethod
    def write_commit(self, data: bytes, commit_id: str) -> None: ...

    @abstractmethod
    def add_pack(self, pack: Path) -> None:
        """A finished pack that lies on this machine."""

    def exists(self) -> bool:
        return self.files.exists("format")

    def read(self, *parts: str) -> bytes:
        try:
            return self.files.read(*parts)
        except FileNotFoundError:
            raise DataError(f"{'/'.join((self.url, *parts))} is missing") from None

    def config(self) -> Any:
        return read_stored_config(self.url, unseal_bytes(f"{self.url}/format", self.read("format")))

    def commit(self, commit_id: str) -> tuple[Commit, bytes]:
        data = self.read("commits", commit_id)
        if bytes_digest(data).hex() != commit_id:
            raise DataError(f"{self.url}/commits/{commit_id} is damaged: its content does not match its name")
        return parse_commit(commit_id, data), data

    def records(self) -> dict[bytes, tuple[RemotePack, TensorRecord]]:
        """Every tensor that it has now."""
        return {record.digest: (pack, record) for pack in self.packs() for record in pack.records}

    def packs(self) -> list[RemotePack]:
        for _ in range(_PATIENCE):
            names = sorted(name for name in self.files.names("packs") if name.endswith(".pack"))
            try:
                return [RemotePack(self.files, name) for name in names]
            except VanishedPack:
                continue
        raise DataError(f"{self.url}/packs does not keep still: packs vanish while they are opened; try again")
