from __future__ import annotations

import mmap
from pathlib import Path

from assay.errors import DataError
from assay.weights.pack_writer import END, FOOTER, MAGIC
from assay.weights.tensor_record import ChunkPlace, TensorRecord, unpack_records

LARGEST_INDEX = 1 << 28


class PackReader:
    """A finished pack, mapped into memory. Nothing in it is believed before its checksum is."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                self.size = path.stat().st_size
                if self.size < len(MAGIC) + FOOTER.size:
                    raise DataError(f"{path} is damaged: too short for a pack")
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror}") from None
        self._view = memoryview(self._map)
        self.records = self._read_index()

    def _read_index(self) -> list[TensorRecord]:
        from xxhash import xxh3_64_intdigest

        offset, length, checksum, end = FOOTER.unpack_from(self._view, self.size - FOOTER.size)
        if bytes(self._view[: len(MAGIC)]) != MAGIC or end != END:
            raise DataError(f"{self.path} is damaged: it does not begin and end as a pack")
        if offset + length + FOOTER.size != self.size or offset < len(MAGIC):
            raise DataError(f"{self.path} is damaged: its footer does not fit its size")
        index = self._view[offset : offset + length]
        if xxh3_64_intdigest(index) != checksum:
            raise DataError(f"{self.path} is damaged: the checksum of its index does not match")
        try:
            return unpack_records(decompress_index(index), offset)
        except DataError as error:
            raise DataError(f"{self.path}: {error}") from None

    def chunk(self, place: ChunkPlace, whose: str) -> memoryview:
        from xxhash import xxh3_64_intdigest

        stored = self._view[place.offset : place.offset + place.padded]
        if xxh3_64_intdigest(stored) != place.checksum:
            raise DataError(
                f"{self.path} is damaged between bytes {place.offset} and {place.offset + place.padded} ({whose}); "
                "restore it from a copy, for instance with: assay weights pull"
            )
        return stored[: place.length]

    def uncovered(self) -> int:
        """Bytes that belong to no chunk; there should be none."""
        covered = sum(record.stored_bytes for record in self.records)
        (offset, _, _, _) = FOOTER.unpack_from(self._view, self.size - FOOTER.size)
        return int(offset) - len(MAGIC) - covered


def decompress_index(index: memoryview) -> bytes:
    from zstandard import ZstdDecompressor, ZstdError, frame_content_size

    try:
        if not 0 <= frame_content_size(index) <= LARGEST_INDEX:
            raise DataError("the index claims to be larger than any index may be")
        data = ZstdDecompressor().decompress(index, max_output_size=LARGEST_INDEX)
    except ZstdError as error:
        raise DataError(f"the index cannot be read: {error}") from None
    return bytes(data)
