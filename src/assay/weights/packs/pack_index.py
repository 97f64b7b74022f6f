from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, KeysView
from itertools import accumulate

from assay.errors import DataError
from assay.weights.digest import DIGEST_BYTES
from assay.weights.packs.tensor_record import TensorRecord, pack_record, unpack_record

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
