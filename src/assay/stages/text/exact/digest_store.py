"""Digests and ids of documents on disk, one file a split: digests, where ids end, ids. Documents are numbered through
all files, in order."""

from __future__ import annotations

import mmap
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

from assay.native.digests import DIGEST
from assay.pipeline import Part, Split, Writer
from assay.stages.text.exact.text_digests import TextDigests
from assay.stages.text.row_writers import write_pieces


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
