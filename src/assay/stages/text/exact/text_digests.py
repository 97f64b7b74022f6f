from __future__ import annotations

import os
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Self

from assay.errors import DataError
from assay.native import digests as native
from assay.native.json_fields import INTEGER, OTHER, PLAIN, int64s, raw_values
from assay.native.library import library
from assay.pipeline import Batch, Stage, Worker
from assay.stages.text.json_lines import JsonLines
from assay.stages.text.rows import Rows, import_orjson


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
