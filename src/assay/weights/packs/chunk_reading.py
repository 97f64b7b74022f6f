from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from assay.errors import DataError
from assay.weights.codec.codec_methods import RAW
from assay.weights.dtype import ElementType
from assay.weights.packs.pack_reader import PackReader
from assay.weights.packs.tensor_record import TensorRecord
from assay.weights.store import Tensor


class ChunkReading(NamedTuple):
    """A chunk that is to be decoded, with all that has to be found for it found.

    All chunks are found first and decoded after: finding is Python's work, and doing both in turn for every chunk would
    drive each out of the processor's caches by the other.
    """

    number: int
    links: list[tuple[PackReader, TensorRecord]]
    """The tensor, the one that it is a difference to, and so on."""
    base: Tensor | None
    """What the last of them is a difference to, if that is in memory."""
    out: Tensor

    def run(self) -> None:
        number, links, base, out = self
        if not links and base is not None:
            out[:] = base
        unchecked: list[tuple[PackReader, TensorRecord, memoryview]] = []
        for pack, record in reversed(links):
            place = record.chunks[number]
            stored = pack.read_unchecked(place)
            unchecked.append((pack, record, stored))
            if base is None and record is not links[0][1] and is_as_it_is(record, number):
                # The difference to it is undone from where it lies into the tensor.
                base = np.frombuffer(stored[: place.length], record.kind.bit_view)
                if base.flags.aligned:
                    continue
                base = None
            problem = None
            try:
                _decoder()(place.method, stored[: place.length], base, record.kind, out)
            except DataError as error:
                problem = f"{pack.path}: {name_chunk(record, number)}: {error}"
            self._check(unchecked)
            if problem:
                raise DataError(problem)
            base = out
        for pack, record in links:
            pack.release(record.chunks[number])

    def _check(self, unchecked: list[tuple[PackReader, TensorRecord, memoryview]]) -> None:
        """Compares checksums after decoding: the bytes are still in the processor's caches then, and decoding is safe
        because it believes nothing either."""
        while unchecked:
            pack, record, stored = unchecked.pop()
            pack.check(record.chunks[self.number], stored, lambda: name_chunk(record, self.number))  # noqa: B023


def is_as_it_is(record: TensorRecord, number: int) -> bool:
    place = record.chunks[number]
    return place.method == RAW and place.length == record.chunk_elements(number) * record.kind.bits // 8


def name_chunk(record: TensorRecord, number: int) -> str:
    return f"tensor {record.digest.hex()[:16]}…, chunk {number}"


@cache
def _decoder() -> Callable[[int, memoryview, Tensor | None, ElementType, Tensor], None]:
    """Loaded when first needed: a look at the log needs no compiled kernels."""
    from assay.weights.codec.chunk import decode_chunk

    return decode_chunk
