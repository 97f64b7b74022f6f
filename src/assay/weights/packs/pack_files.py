"""Appends chunks to a new pack; the index follows at its end, and only then does the pack get its name."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Callable, Iterable, Iterator, KeysView
from itertools import accumulate
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

from assay.errors import DataError
from assay.files.reading import open_regular
from assay.weights.codec.codec_methods import Method
from assay.weights.element_types import DIGEST_BYTES, bytes_digest
from assay.weights.packs.tensor_record import ChunkPlace, TensorRecord, pack_record, unpack_record
from assay.weights.repository_disk import RepositoryDisk

_COUNT = struct.Struct("<I")


class PackIndex:
    """The records of a pack, each taken apart and checked when it is asked for: a version needs few of a repository's.

    The number of records, the length of each, and the records, every one of which begins with its digest.
    """

    def __init__(self, data: bytes, end_of_chunks: int) -> None:
        self._data, self._end = data, end_of_chunks
        self._known: dict[bytes, TensorRecord] = {}
        (count,) = _COUNT.unpack_from(data) if len(data) >= _COUNT.size else (0,)
        start = _COUNT.size * (1 + count)
        if start > len(data):
            raise DataError("the index ends inside a record")
        lengths = struct.unpack_from(f"<{count}I", data, _COUNT.size)
        ends = list(accumulate(lengths, initial=start))
        if ends[-1] != len(data) or (count and min(lengths) < DIGEST_BYTES):
            raise DataError("the index has a record that makes no sense: it is not as long as the index says")
        self._places = {data[place : place + DIGEST_BYTES]: place for place in ends[:-1]}

    @property
    def digests(self) -> KeysView[bytes]:
        return self._places.keys()

    def record(self, digest: bytes) -> TensorRecord:
        found = self._known.get(digest)
        if found is None:
            found = self._known[digest] = unpack_record(self._data, self._places[digest], self._end)
        return found

    def __iter__(self) -> Iterator[TensorRecord]:
        return (self.record(digest) for digest in self._places)


def pack_index(records: Iterable[TensorRecord]) -> bytes:
    packed = [pack_record(record) for record in records]
    return b"".join((_COUNT.pack(len(packed)), struct.pack(f"<{len(packed)}I", *map(len, packed)), *packed))


MAGIC = b"ASSAYWP1"
END = b"1PWYASSA"
FOOTER = struct.Struct("<QQQ8s")  # offset of the index, its length, its checksum, END


class PackWriter:
    def __init__(self, disk: RepositoryDisk, temporary: Path, packs: Path) -> None:
        self._disk, self._packs = disk, packs
        self._path = temporary / f"{uuid4().hex}.pack"
        try:
            self._file = disk.create(self._path)
        except OSError as error:
            raise DataError(f"{packs} cannot be written: {error.strerror}") from None
        disk.write(self._file, MAGIC)
        self._offset = len(MAGIC)
        self._finished = False
        self.records: list[TensorRecord] = []

    def add_chunk(self, method: Method | int, data: bytes | memoryview) -> ChunkPlace:
        from xxhash import xxh3_64

        padding = bytes(-len(data) % 8)
        check = xxh3_64(data)
        self._disk.write(self._file, data)
        if padding:
            check.update(padding)
            self._disk.write(self._file, padding)
        place = ChunkPlace(self._offset, len(data), int(method), check.intdigest())
        self._offset += place.padded
        return place

    def add_record(self, record: TensorRecord) -> None:
        self.records.append(record)

    def finish(self) -> Path:
        from xxhash import xxh3_64_intdigest
        from zstandard import ZstdCompressor

        index = ZstdCompressor(level=3).compress(pack_index(self.records))
        self._disk.write(self._file, index)
        footer = FOOTER.pack(self._offset, len(index), xxh3_64_intdigest(index), END)
        self._disk.write(self._file, footer)
        self._disk.sync(self._file)
        target = self._packs / f"{bytes_digest(index).hex()[:32]}.pack"
        self._disk.publish(self._path, target)
        self._finished = True
        return target

    def abandon(self) -> None:
        self._disk.give_up(self._file, self._path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """What was not finished is removed; what the disk refused is said in one message."""
        if not self._finished:
            self.abandon()
        if isinstance(error, OSError):
            raise DataError(f"{self._packs} cannot be written: {error.strerror}") from None


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
