"""Digests and ids of documents on disk, one file a split: digests, where ids end, ids. Documents are numbered through
all files, in order."""

from __future__ import annotations

import mmap
import os
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import merge
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO, Self

from assay.errors import DataError
from assay.native import digests as native
from assay.native.digests import DIGEST, RangeOfDigests
from assay.native.json_fields import INTEGER, OTHER, PLAIN, int64s, raw_values
from assay.native.library import library
from assay.pipeline import Batch, Collector, Part, Source, Split, Stage, Worker, Writer
from assay.stages.text.document_rows import Rows, import_orjson
from assay.stages.text.documents import JsonLines, write_pieces


@dataclass(frozen=True)
class TextDigests(Batch):
    """What is needed of documents to find those with the same text."""

    digests: bytes
    """16 bytes a document."""
    ids: bytes
    """Each as JSON, one after the other."""
    ends: array[int]
    """Where each id ends."""

    def __len__(self) -> int:
        return len(self.ends)

    def slice(self, start: int, stop: int) -> Self:
        before = self.ends[start - 1] if start else 0
        ends = array("q", (end - before for end in self.ends[start:stop]))
        digests = self.digests[native.DIGEST * start : native.DIGEST * stop]
        return type(self)(digests, self.ids[before : before + (ends[-1] if ends else 0)], ends)

    @classmethod
    def concat(cls, batches: Sequence[Self]) -> Self:
        ends, before = array("q"), 0
        for batch in batches:
            later = batch.ends[:]
            native.shift(later, before)
            ends.extend(later)
            before += len(batch.ids)
        return cls(b"".join(batch.digests for batch in batches), b"".join(batch.ids for batch in batches), ends)


class DigestTexts(Stage[Rows, TextDigests]):
    """128-bit digests of texts under a key that is drawn for the run: see `native/c/keys/digest.h`."""

    name = "exact_hash"

    def __init__(self, id_field: str, text_field: str) -> None:
        self.id_field, self.text_field = id_field, text_field
        self.key = os.urandom(native.KEY)

    def setup(self, worker: Worker) -> None:
        if library() is None:
            raise DataError(
                "a worker lacks the compiled library that the driver has: install Assay there in the same way"
            )

    def process(self, data: Rows) -> TextDigests:
        found = data.fields(self.id_field, self.text_field) if isinstance(data, JsonLines) else None
        if found is None or not isinstance(data, JsonLines):
            return self._plainly(data)
        values, kinds = found.column(1)
        for kind in (INTEGER, OTHER):
            if (at := kinds.tobytes().find(kind)) >= 0:
                raise DataError(f"{data.place(at)}: {self.text_field}: not text")
        made, _ = native.digests(data.block, values, kinds, self.key)
        ids, offsets = raw_values(data.block, *found.column(0))
        return TextDigests(bytes(made), bytes(ids), array("q", offsets[1:].tobytes()))

    def _plainly(self, data: Rows) -> TextDigests:
        """Rows of which the scanner is not sure."""
        dumps = import_orjson().dumps
        ids, texts = data.columns(self.id_field, self.text_field)
        for at, text in enumerate(texts):
            if not isinstance(text, str | None):
                place = data.place(at) if isinstance(data, JsonLines) else getattr(data, "where", "")
                raise DataError(f"{place}: {self.text_field}: not text")
        block, ranges = _join([(text or "").encode() for text in texts])
        made, _ = native.digests(block, ranges, memoryview(bytearray([PLAIN]) * len(texts)), self.key)
        written = [dumps(one) for one in ids]
        return TextDigests(bytes(made), b"".join(written), array("q", accumulate(map(len, written))))


def _join(texts: list[bytes]) -> tuple[bytes, memoryview]:
    ranges, at = int64s(2 * len(texts)), 0
    for row, text in enumerate(texts):
        ranges[2 * row], ranges[2 * row + 1] = at, at + len(text)
        at += len(text)
    return b"".join(texts), ranges


def can_digest(paths: Sequence[Any]) -> bool:
    """Whether the compiled library is there and every file is JSONL; other ids than JSON has need the general way."""
    return library() is not None and not any(str(path).endswith(".parquet") for path in paths)


class DigestWriter(Writer[TextDigests]):
    name = "key_writer"

    def __init__(self, folder: str | Path) -> None:
        super().__init__(folder, ".digests")

    def begin(self, split: Split) -> None:
        super().begin(split)
        self._held: list[TextDigests] = []

    def write(self, data: TextDigests, out: BinaryIO) -> int:
        self._held.append(data)
        return len(data)

    def finish(self) -> Part:
        assert self._out is not None, "begin() comes first"
        if self._held:
            whole = TextDigests.concat(self._held)
            write_pieces(self._out.fileno(), [whole.digests, whole.ends.tobytes(), whole.ids])
        self._held = []
        return super().finish()

    def abandon(self) -> None:
        self._held = []
        super().abandon()


@dataclass(frozen=True)
class DigestStore:
    parts: Sequence[Part]
    """Parts in the order of their splits."""

    def __len__(self) -> int:
        return sum(part.rows for part in self.parts)

    @cached_property
    def _starts(self) -> list[int]:
        """Number of each part's first document, and of the one after the last."""
        return list(accumulate((part.rows for part in self.parts), initial=0))

    def digests(self) -> Iterator[tuple[bytearray, int]]:
        """Digests of each part, with the number of its first document."""
        for part, first in zip(self.parts, self._starts, strict=False):
            made = bytearray(DIGEST * part.rows)
            with Path(part.path).open("rb", buffering=0) as file:
                file.readinto(made)
            yield made, first

    def ids(self, documents: Iterable[int]) -> Iterator[bytes]:
        """The id of each document, as JSON."""
        starts, files = self._starts, [_map(part) for part in self.parts]
        for document in documents:
            at = bisect_right(starts, document) - 1
            content, ends, ids = files[at]
            row = document - starts[at]
            yield content[ids + (ends[row - 1] if row else 0) : ids + ends[row]]


def _map(part: Part) -> tuple[mmap.mmap | bytes, memoryview, int]:
    """The file (mapped, not read: few ids are asked for), where each id ends, and where ids begin in the file."""
    if not part.rows:
        return b"", memoryview(b"").cast("q"), 0
    with Path(part.path).open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    ids = (DIGEST + 8) * part.rows
    return content, memoryview(content)[DIGEST * part.rows : ids].cast("q"), ids


DOCUMENTS_A_RANGE = 4_000_000


@dataclass(frozen=True)
class RepeatedDocuments(Batch):
    """Documents that repeat an earlier one, by number: `first` has the text first, `second` repeats it, in order."""

    first: array[int]
    second: array[int]

    def __len__(self) -> int:
        return len(self.first)

    def slice(self, start: int, stop: int) -> Self:
        return type(self)(self.first[start:stop], self.second[start:stop])

    @classmethod
    def concat(cls, batches: Sequence[Self]) -> Self:
        """Joins batches, in the order of the documents that repeat, wherever the batches come from."""
        if len(batches) == 1:
            return batches[0]
        first, second = array("q"), array("q")
        for later, earlier in merge(*(zip(batch.second, batch.first, strict=True) for batch in batches)):
            second.append(later)
            first.append(earlier)
        return cls(first, second)


class DigestRanges(Source):
    """Documents that repeat others, by ranges of digests, so that memory does not grow with their number."""

    name = "key_ranges"

    def __init__(self, store: DigestStore) -> None:
        self.store = store

    def splits(self) -> Sequence[Split]:
        return [Split(index) for index in range(self._count())]

    def read(self, split: Split) -> Iterator[RepeatedDocuments]:
        gathered = RangeOfDigests(split.index, self._count())
        for digests, first in self.store.digests():
            gathered.add(digests, first)
        pairs = gathered.repeats()
        yield RepeatedDocuments(array("q", pairs[0::2]), array("q", pairs[1::2]))

    def _count(self) -> int:
        return max(1, -(-len(self.store) // DOCUMENTS_A_RANGE))


class GatherRepeats(Collector[RepeatedDocuments, RepeatedDocuments]):
    """Repeats of a range go back as arrays, 16 bytes each."""

    name = "gather"

    def begin(self, split: Split) -> None:
        self._held: list[RepeatedDocuments] = []

    def process(self, data: RepeatedDocuments) -> None:
        self._held.append(data)

    def finish(self) -> RepeatedDocuments:
        held, self._held = self._held, []
        return RepeatedDocuments.concat(held) if held else RepeatedDocuments(array("q"), array("q"))
