"""Appends chunks to a new pack; the index follows at its end, and only then does the pack get its name."""

from __future__ import annotations

import struct
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

from assay.errors import DataError
from assay.weights.codec.codec_methods import Method
from assay.weights.digest import bytes_digest
from assay.weights.packs.pack_index import pack_index
from assay.weights.packs.tensor_record import ChunkPlace, TensorRecord
from assay.weights.repository_disk import RepositoryDisk

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
