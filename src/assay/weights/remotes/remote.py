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
from assay.weights.element_types import bytes_digest
from assay.weights.packs.pack_files import END, FOOTER, LARGEST_INDEX, MAGIC, PackIndex, decompress_index
from assay.weights.packs.tensor_record import ChunkPlace, TensorRecord
from assay.weights.remotes.remote_files import RemoteFiles
from assay.weights.repository_config import read_stored_config
from assay.weights.versions.commit import Commit, References, parse_commit, unseal_bytes


class VanishedPack(DataError):
    """A pack that was listed is not there any more: what of it is needed is in another one now."""


class RemotePack:
    """The index of a pack that is somewhere else; chunks are fetched one by one."""

    def __init__(self, files: RemoteFiles, name: str) -> None:
        self._files, self.name = files, name
        self.path = f"{files.url}/packs/{name}"
        try:
            self.records: list[TensorRecord] = self._read_index()
        except VanishedPack:
            raise
        except DataError as error:
            text = str(error)
            raise DataError(text if self.path in text else f"{self.path}: {text}") from None

    def _fetch(self, start: int, end: int) -> bytes:
        try:
            data = self._files.read("packs", self.name, start=start, end=end)
        except FileNotFoundError:
            raise VanishedPack(f"{self.path} is not there any more; try again") from None
        if len(data) != end - start:
            raise DataError(f"{self.path} is shorter than its index says")
        return data

    def _read_index(self) -> list[TensorRecord]:
        from xxhash import xxh3_64_intdigest

        try:
            size = self.size = self._files.size("packs", self.name)
        except FileNotFoundError:
            raise VanishedPack(f"{self.path} is not there any more; try again") from None
        if size < len(MAGIC) + FOOTER.size:
            raise DataError(f"{self.path} is damaged: too short for a pack")
        offset, length, checksum, end = FOOTER.unpack(self._fetch(size - FOOTER.size, size))
        if end != END or offset + length + FOOTER.size != size or offset < len(MAGIC) or length > LARGEST_INDEX:
            raise DataError(f"{self.path} is damaged: its footer does not fit its size")
        index = self._fetch(offset, offset + length)
        if xxh3_64_intdigest(index) != checksum:
            raise DataError(f"{self.path} is damaged: the checksum of its index does not match")
        return list(PackIndex(decompress_index(memoryview(index)), offset))

    def chunk(self, place: ChunkPlace) -> bytes:
        from xxhash import xxh3_64_intdigest

        stored = self._fetch(place.offset, place.offset + place.padded) if place.padded else b""
        if xxh3_64_intdigest(stored) != place.checksum:
            raise DataError(f"{self.path} is damaged between bytes {place.offset} and {place.offset + place.padded}")
        return stored[: place.length]


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
