from __future__ import annotations

from assay.errors import DataError
from assay.weights.packs.pack_index import PackIndex
from assay.weights.packs.pack_reader import LARGEST_INDEX, decompress_index
from assay.weights.packs.pack_writer import END, FOOTER, MAGIC
from assay.weights.packs.tensor_record import ChunkPlace, TensorRecord
from assay.weights.remotes.remote_files import RemoteFiles


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
