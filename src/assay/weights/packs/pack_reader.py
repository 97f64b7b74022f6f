from __future__ import annotations

import mmap
import os
from collections.abc import Callable, KeysView
from pathlib import Path

from assay.errors import DataError
from assay.untrusted.regular_file import open_regular
from assay.weights.packs.pack_index import PackIndex
from assay.weights.packs.pack_writer import END, FOOTER, MAGIC
from assay.weights.packs.tensor_record import ChunkPlace, TensorRecord

LARGEST_INDEX = 1 << 28
_WORTH_RELEASING = 1 << 20


class PackReader:
    """A finished pack, mapped into memory or read piece by piece. Nothing in it is believed before its checksum is."""

    def __init__(self, path: Path, mapped: bool = True) -> None:
        from xxhash import xxh3_64_intdigest

        self.path = path
        self._checksum: Callable[[memoryview], int] = xxh3_64_intdigest
        self._map: mmap.mmap | None = None
        self._view: memoryview | None = None
        try:
            file = open_regular(path)
            try:
                self.size = os.fstat(file).st_size
                if self.size < len(MAGIC) + FOOTER.size:
                    raise DataError(f"{path} is damaged: too short for a pack")
                if mapped:
                    self._map = mmap.mmap(file, self.size, access=mmap.ACCESS_READ)
                    self._view = memoryview(self._map)
            finally:
                os.close(file)
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror}") from None
        self._index = self._read_index()

    def _bytes(self, start: int, end: int) -> memoryview:
        if self._view is not None:
            self._check_size()
            return self._view[start:end]
        try:
            with open(open_regular(self.path), "rb") as file:
                file.seek(start)
                return memoryview(file.read(end - start))
        except OSError as error:
            raise DataError(f"{self.path} cannot be read: {error.strerror}") from None

    def _check_size(self) -> None:
        """Reading what a mapped file does not have any more would end the process, not raise."""
        try:
            size = os.stat(self.path).st_size
        except OSError:
            # Removed: what is mapped is still whole.
            return
        if size < self.size:
            raise DataError(
                f"{self.path} is damaged: it was cut short from {self.size:,} to {size:,} bytes; "
                "restore it from a copy, for instance with: assay weights pull"
            )

    def _footer(self) -> tuple[int, int, int, bytes]:
        offset, length, checksum, end = FOOTER.unpack(self._bytes(self.size - FOOTER.size, self.size))
        return offset, length, checksum, end

    def _read_index(self) -> PackIndex:
        offset, length, checksum, end = self._footer()
        if bytes(self._bytes(0, len(MAGIC))) != MAGIC or end != END:
            raise DataError(f"{self.path} is damaged: it does not begin and end as a pack")
        if offset + length + FOOTER.size != self.size or offset < len(MAGIC):
            raise DataError(f"{self.path} is damaged: its footer does not fit its size")
        index = self._bytes(offset, offset + length)
        if self._checksum(index) != checksum:
            raise DataError(f"{self.path} is damaged: the checksum of its index does not match")
        try:
            return PackIndex(decompress_index(index), offset)
        except DataError as error:
            raise DataError(f"{self.path}: {error}") from None

    @property
    def digests(self) -> KeysView[bytes]:
        return self._index.digests

    def record(self, digest: bytes) -> TensorRecord:
        try:
            return self._index.record(digest)
        except DataError as error:
            raise DataError(f"{self.path}: {error}") from None

    @property
    def records(self) -> list[TensorRecord]:
        return [self.record(digest) for digest in self.digests]

    def chunk(self, place: ChunkPlace, whose: Callable[[], str]) -> memoryview:
        stored = self.read_unchecked(place)
        self.check(place, stored, whose)
        return stored[: place.length]

    def read_unchecked(self, place: ChunkPlace) -> memoryview:
        """The bytes of a chunk and their padding, for `check`, before or after they are used."""
        return self._bytes(place.offset, place.offset + place.padded)

    def check(self, place: ChunkPlace, stored: memoryview, whose: Callable[[], str]) -> None:
        if self._checksum(stored) != place.checksum:
            raise DataError(
                f"{self.path} is damaged between bytes {place.offset} and {place.offset + place.padded} ({whose()}); "
                "restore it from a copy, for instance with: assay weights pull"
            )

    def release(self, place: ChunkPlace) -> None:
        """The pages of a chunk that has been decoded need not stay in this process's memory."""
        if self._map is None or place.length < _WORTH_RELEASING:
            return
        begin = -(-place.offset // mmap.PAGESIZE) * mmap.PAGESIZE
        length = (place.offset + place.padded - begin) // mmap.PAGESIZE * mmap.PAGESIZE
        self._map.madvise(mmap.MADV_DONTNEED, begin, length)

    def count_uncovered(self) -> int:
        """Bytes that belong to no chunk; there should be none."""
        covered = sum(record.stored_bytes for record in self.records)
        return self._footer()[0] - len(MAGIC) - covered


def decompress_index(index: memoryview) -> bytes:
    from zstandard import ZstdDecompressor, ZstdError, frame_content_size

    try:
        if not 0 <= frame_content_size(index) <= LARGEST_INDEX:
            raise DataError("the index claims to be larger than any index may be")
        data = ZstdDecompressor().decompress(index, max_output_size=LARGEST_INDEX)
    except ZstdError as error:
        raise DataError(f"the index cannot be read: {error}") from None
    return bytes(data)
