from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.errors import UsageError
from assay.pipeline import Source, Split
from assay.pipeline.compressed_file import is_compressed
from assay.stages.alm.line_blocks import BLOCK
from assay.stages.alm.lines import Lines
from assay.stages.alm.manifest_file import file_size
from assay.stages.alm.manifest_reader import split_bytes


class RepeatEntries(Source):
    """Every entry of a manifest `factor` times, each time from bytes: what was parsed once is parsed again."""

    name = "alm_manifest_reader"

    def __init__(self, source: Source, factor: int) -> None:
        if factor < 1:
            raise UsageError(f"--repeat-factor: {factor} is less than 1")
        self.source = source
        self.factor = factor
        self.provides = source.provides

    def describe(self) -> Sequence[str]:
        return (*self.source.describe(), f"repeat_entries × {self.factor}")

    def splits(self) -> Sequence[Split]:
        """A split's copies are shared out over several splits, so that one small file still feeds every worker."""
        splits = [(split, max(_size(split), 1)) for split in self.source.splits()]
        target = split_bytes(sum(size for _, size in splits) * self.factor)
        shares: list[Split] = []
        for split, size in splits:
            at_once = max(1, target // size)
            for done in range(0, self.factor, at_once):
                copies = min(at_once, self.factor - done)
                shares.append(replace(split, index=len(shares), copies=copies))
        return shares

    def read(self, split: Split) -> Iterator[Lines]:
        blocks = self.source.read(split)
        first = next(blocks, None)
        if first is None:
            return
        second = next(blocks, None)
        if second is None and first.data:
            yield from _copies(first, split.copies)
            return
        yield first
        if second is not None:
            yield second
        yield from blocks
        for _ in range(split.copies - 1):
            yield from self.source.read(split)


def _copies(lines: Lines, copies: int) -> Iterator[Lines]:
    data = lines.data if lines.data.endswith(b"\n") else lines.data + b"\n"
    at_once = max(1, BLOCK // len(data))
    for done in range(0, copies, at_once):
        now = min(at_once, copies - done)
        yield replace(lines, data=data * now, count=lines.count * now, period=len(data))


def _size(split: Split) -> int:
    piece = split.ranges[0]
    if is_compressed(piece.path):
        # Its length once unpacked is not known; text of this kind shrinks to about a tenth.
        return 10 * file_size(piece.path)
    return (file_size(piece.path) if piece.end is None else piece.end) - piece.start
