from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

import numpy as np

from assay.errors import DataError
from assay.weights.codec.codec_methods import CHUNK_ELEMENTS, NEEDS_BASE, RAW
from assay.weights.element_types import from_bits
from assay.weights.packs.chunks import ChunkCache, ChunkReading, Slabs, is_as_it_is, name_chunk
from assay.weights.packs.pack_files import PackReader
from assay.weights.packs.tensor_record import TensorRecord
from assay.weights.store import Tensor

T = TypeVar("T")
Run = Callable[[list[ChunkReading]], None]
_PATIENCE = 8


class MissingTensor(DataError):
    """Its pack is not there, or not any more."""


class ObjectStore:
    """Every tensor of a repository by the digest of its content."""

    def __init__(self, packs: Path, memory_limit: int, mapped: bool = True) -> None:
        self.folder = packs
        self._mapped = mapped
        self.cache = ChunkCache(memory_limit // 2)
        self._packs: dict[str, PackReader] = {}
        self._places: dict[bytes, PackReader] = {}
        self._refreshing = RLock()
        self._checked: tuple[bytes, int, Tensor] | None = None
        """The chunk last read as a view of its pack: a base is read twice, the first time to see whether it is a good
        one."""

    def refresh(self) -> None:
        """Takes up packs that have come, lets go of packs that have gone."""
        with self._refreshing:
            for _ in range(_PATIENCE):
                if self._take_up():
                    return
        raise DataError(f"{self.folder} does not keep still: packs vanish while they are opened")

    def _take_up(self) -> bool:
        """False if packs came or went meanwhile: what one held is in another now.

        Listing a folder is not one step: a pack renamed into place behind the reader's position and one removed
        before it are both missed. What is listed alike twice was there as a whole.
        """
        present = self._list_packs()
        if present != self._list_packs():
            return False
        if gone := self._packs.keys() - present:
            for name in gone:
                del self._packs[name]
            # Made anew from all packs that are left: what a vanished pack held may be in one that was known before.
            # Other threads read the old places until the new ones are there as a whole.
            places: dict[bytes, PackReader] = {}
            for pack in self._packs.values():
                _index(places, pack)
            self._places = places
        for name in sorted(present - self._packs.keys()):
            try:
                pack = PackReader(self.folder / name, self._mapped)
            except DataError:
                if (self.folder / name).exists():
                    raise
                return False
            self._packs[name] = pack
            _index(self._places, pack)
        return True

    def _list_packs(self) -> set[str]:
        try:
            return {name for name in os.listdir(self.folder) if name.endswith(".pack")}
        except FileNotFoundError:
            return set()
        except OSError as error:
            raise DataError(f"{self.folder} cannot be read: {error.strerror}") from None

    @property
    def packs(self) -> list[PackReader]:
        return list(self._packs.values())

    def __contains__(self, digest: bytes) -> bool:
        """Whether the tensor was there at the last `refresh`."""
        return digest in self._places

    def records(self) -> Iterator[TensorRecord]:
        for digest, pack in list(self._places.items()):
            yield pack.record(digest)

    def find(self, digest: bytes) -> tuple[PackReader, TensorRecord]:
        found = self._places.get(digest)
        for _ in range(_PATIENCE):
            if found is not None:
                return found, found.record(digest)
            self.refresh()
            found = self._places.get(digest)
        raise MissingTensor(
            f"{self.folder.parent} has no tensor {digest.hex()[:16]}…; a pack is missing: restore it from a copy"
        )

    def record(self, digest: bytes) -> TensorRecord:
        return self.find(digest)[1]

    def read_stored_chunk(self, digest: bytes, number: int) -> memoryview:
        pack, record = self.find(digest)
        return pack.chunk(record.chunks[number], lambda: f"tensor {digest.hex()[:16]}…")

    def read(self, digest: bytes) -> Tensor:
        """Reads a tensor chunk by chunk; bases that are decoded for it are kept."""
        return self._patiently(lambda: self._read(digest))

    def _read(self, digest: bytes) -> Tensor:
        record, tensor, readings = self._readings(digest, np.empty, keep=True)
        for reading in readings:
            reading.run()
            if record.base is not None:
                self.release_chunk(record.base, reading.number)
        return tensor

    def read_all(self, digests: list[bytes], slabs: Slabs, run: Run) -> list[Tensor]:
        """Reads tensors into memory from `slabs`. Decoded bases are not kept: they are seldom needed again."""
        tensors = []
        found: list[ChunkReading] = []
        for digest in digests:
            tensor, readings = self._patiently(lambda: self._found(digest, slabs))  # noqa: B023  called at once
            tensors.append(tensor)
            found += readings
            if not self._mapped:
                # A pack that is not mapped may be gone later, so its chunks are read now.
                run(found)
                found = []
        run(found)
        return tensors

    def _found(self, digest: bytes, slabs: Slabs) -> tuple[Tensor, list[ChunkReading]]:
        _, tensor, readings = self._readings(digest, slabs.take, keep=False)
        return tensor, list(readings)

    def _patiently(self, read: Callable[[], T]) -> T:
        for _ in range(_PATIENCE):
            try:
                return read()
            except MissingTensor:
                # Another process may have repacked it onto another base meanwhile.
                self.refresh()
        return read()

    def _readings(
        self, digest: bytes, take: Callable[[int, np.dtype[Any]], Tensor], keep: bool
    ) -> tuple[TensorRecord, Tensor, Iterator[ChunkReading]]:
        """The tensor, still empty, and what fills it."""
        pack, record = self.find(digest)
        bits = take(record.elements, record.kind.bit_view)
        readings = (
            self._reading(pack, record, number, bits[start : start + CHUNK_ELEMENTS], keep)
            for number, start in enumerate(range(0, record.elements, CHUNK_ELEMENTS))
        )
        return record, from_bits(bits, record.kind, record.shape), readings

    def _reading(self, pack: PackReader, record: TensorRecord, number: int, out: Tensor, keep: bool) -> ChunkReading:
        links: list[tuple[PackReader, TensorRecord]] = []
        held = self.cache.get(record.digest, number)
        while held is None:
            links.append((pack, record))
            if record.chunks[number].method not in NEEDS_BASE:
                break
            pack, record, size = self._base_of(record, number, out.size)
            if keep or size > out.size:
                held = self.read_chunk(record.digest, number)[: out.size]
            else:
                held = self.cache.get(record.digest, number)
        return ChunkReading(number, links, held, out)

    def read_chunk(self, digest: bytes, number: int) -> Tensor:
        """A chunk from the cache, or decoded into it; not to be changed."""
        held = self.cache.get(digest, number)
        if held is None:
            pack, record = self.find(digest)
            held = self._as_stored(pack, record, number)
            if held is not None:
                return held
            held = self.cache.room(record.chunk_elements(number), record.kind.bit_view)
            self._reading(pack, record, number, held, keep=True).run()
            self.cache.put(digest, number, held)
            if record.base is not None:
                self.release_chunk(record.base, number)
        return held

    def _as_stored(self, pack: PackReader, record: TensorRecord, number: int) -> Tensor | None:
        """A chunk that was stored uncoded, as a view of the pack; None for any other."""
        if not is_as_it_is(record, number):
            return None
        place, checked = record.chunks[number], self._checked
        if checked is not None and checked[:2] == (record.digest, number):
            return checked[2]
        data = pack.chunk(place, lambda: name_chunk(record, number))
        bits: Tensor = np.frombuffer(data, record.kind.bit_view)
        if not bits.flags.aligned:
            return None
        self._checked = (record.digest, number, bits)
        return bits

    def release_chunk(self, digest: bytes, number: int) -> None:
        """A chunk that was read where it lies need not stay in this process's memory."""
        self._checked = None
        pack, record = self.find(digest)
        if number < len(record.chunks) and record.chunks[number].method == RAW:
            pack.release(record.chunks[number])

    def _base_of(self, record: TensorRecord, number: int, elements: int) -> tuple[PackReader, TensorRecord, int]:
        """The base with its pack, and how many elements its chunk has."""
        if record.base is None:
            raise DataError(f"tensor {record.digest.hex()[:16]}… is a difference without a base")
        pack, base = self.find(record.base)
        # Depth grows with every difference, so a pack that refers in a circle is refused here.
        if base.depth >= record.depth or base.kind is not record.kind or number >= len(base.chunks):
            raise DataError(f"tensor {record.digest.hex()[:16]}… has a base that cannot be one")
        size = base.chunk_elements(number)
        if size < elements:
            raise DataError(f"tensor {record.digest.hex()[:16]}… has a base that is too short")
        return pack, base, size


def _index(places: dict[bytes, PackReader], pack: PackReader) -> None:
    """Adds the tensors of a pack to `places`; those that another pack holds too stay with that one."""
    places.update(dict.fromkeys([digest for digest in pack.digests if digest not in places], pack))
