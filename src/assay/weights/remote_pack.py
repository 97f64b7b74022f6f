from __future__ import annotations

from typing import Any

from assay.errors import DataError
from assay.weights.pack_index import PackIndex
from assay.weights.pack_reader import decompress_index
from assay.weights.pack_writer import END, FOOTER, MAGIC
from assay.weights.tensor_record import ChunkPlace, TensorRecord


class RemotePack:
    """The index of a pack that is somewhere else; chunks are fetched one by one."""

    def __init__(self, files: Any, path: str) -> None:
        self._files, self.path = files, path
        self.records: list[TensorRecord] = self._read_index()

    def _fetch(self, start: int, end: int) -> bytes:
        try:
            data = bytes(self._files.cat_file(self.path, start=start, end=end))
        except OSError as error:
            raise DataError(f"{self.path} cannot be read: {error}") from None
        if len(data) != end - start:
            raise DataError(f"{self.path} is shorter than its index says")
        return data

    def _read_index(self) -> list[TensorRecord]:
        from xxhash import xxh3_64_intdigest

        size = int(self._files.size(self.path))
        if size < len(MAGIC) + FOOTER.size:
            raise DataError(f"{self.path} is damaged: too short for a pack")
        offset, length, checksum, end = FOOTER.unpack(self._fetch(size - FOOTER.size, size))
        if end != END or offset + length + FOOTER.size != size or offset < len(MAGIC):
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
