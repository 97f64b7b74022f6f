"""Named fields of JSON lines, found without building objects: `c/json/`.

    found = lines(block)                             where each line that is not blank stands
    fields = scan(block, found.at, ["id", "text"])   where its fields stand, and of what kind each is
    content, offsets = texts(block, *fields.column(1))

A block is bytes (or a bytearray) of whole lines. Numbers come back in memoryviews, so that nothing here
needs numpy; `numpy.asarray(view)` shares the memory. Every function needs the library: ask `library()` first.

The scanner answers only what a strict parser (orjson) would: the whole line is checked to be JSON and UTF-8. Whatever
it is not sure of is UNSURE in all fields of that line, and the caller's strict parser decides: lines that are not
JSON objects, names with escapes, halves of surrogate pairs, numbers that may be out of range, deep nesting.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from assay.native.library import require

MISSING, PLAIN, ESCAPED, INTEGER, NULL, OTHER, UNSURE = range(7)
"""Kinds of values, as in fields.h. A string's range is without its quotes; ESCAPED ones need `texts`."""
MOST_FIELDS = 16
USUAL_LINE = 200
"""Bytes of a line; blocks with shorter ones are counted first, so that nobody makes room for a line a byte."""

Buffer = bytes | bytearray | memoryview
"""Memoryviews only of memory that may be written, such as those that these functions return."""


@dataclass(frozen=True)
class LineRanges:
    """Line i of those that are not blank stands at `[at[2i], at[2i+1])`, without its line feed."""

    at: memoryview
    numbers: memoryview
    """Number of each line in the block, from 0, the blank ones counted."""
    seen: int
    """Lines in the block, the blank ones too."""

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass(frozen=True)
class FieldRanges:
    """Field f of line i has `kinds[i * count + f]` and stands at `[values[2 * (i * count + f)], values[… + 1])`."""

    values: memoryview
    kinds: memoryview
    count: int
    unsure: int
    """Lines of which the scanner is not sure."""

    def __len__(self) -> int:
        return len(self.kinds) // self.count

    def column(self, field: int) -> tuple[memoryview, memoryview]:
        """Ranges (two numbers a row) and kinds of one field."""
        if self.count == 1:
            return self.values, self.kinds
        ranges = int64s(2 * len(self))
        ranges[0::2] = self.values[2 * field :: 2 * self.count]
        ranges[1::2] = self.values[2 * field + 1 :: 2 * self.count]
        return ranges, memoryview(bytearray(self.kinds[field :: self.count]))


def int64s(count: int) -> memoryview:
    return memoryview(bytearray(8 * count)).cast("q")


def lines(block: Buffer, size: int | None = None) -> LineRanges:
    """The lines in the first `size` bytes of the block (default: all)."""
    size = len(block) if size is None else min(size, len(block))
    found = _lines(block, size, size // USUAL_LINE + 16)
    if found is None:
        found = _lines(block, size, _library().assay_json_count(address(block), size))
    assert found is not None, "there are no more lines than that"
    return found


def _lines(block: Buffer, size: int, capacity: int) -> LineRanges | None:
    """None if there are more lines than that."""
    at, numbers = int64s(2 * capacity), int64s(capacity)
    seen = ctypes.c_int64()
    found = _library().assay_json_lines(address(block), size, capacity, address(at), address(numbers), seen)
    return LineRanges(at[: 2 * found], numbers[:found], seen.value) if found >= 0 else None


def scan(block: Buffer, at: memoryview, names: Sequence[str]) -> FieldRanges:
    """The fields of the lines at `[at[2i], at[2i+1])`; at most MOST_FIELDS names, no two alike."""
    rows, count = len(at) // 2, len(names)
    encoded = [name.encode("utf-8", "surrogatepass") for name in names]
    pointers = (ctypes.c_char_p * count)(*encoded)
    sizes = (ctypes.c_int64 * count)(*map(len, encoded))
    values, kinds = int64s(2 * rows * count), memoryview(bytearray(rows * count))
    unsure = _library().assay_json_fields(
        address(block), len(block), address(at), rows, pointers, sizes, count, address(values), address(kinds)
    )
    if unsure < 0:
        raise ValueError(f"{count} fields of {rows} lines: not from 1 to {MOST_FIELDS}, or a line is not in the block")
    return FieldRanges(values, kinds, count, unsure)


def texts(
    block: Buffer, values: memoryview, kinds: memoryview, into: bytearray | None = None
) -> tuple[memoryview, memoryview]:
    """Texts of the values of one field (`FieldRanges.column`), without escapes, as one run of UTF-8; text i stands at
    `[offsets[i], offsets[i+1])`. What is not a string gives an empty one.

    `into` is written instead of new memory where it is large enough, which saves the kernel's time to hand that out."""
    rows = len(kinds)
    offsets = int64s(rows + 1)
    loaded = _library()
    room = loaded.assay_json_room(address(values), rows)
    to = memoryview(into if into is not None and len(into) >= room else bytearray(max(room, 0)))
    written = loaded.assay_json_texts(
        address(block), len(block), address(values), address(kinds), rows, address(to), room, address(offsets)
    )
    if written < 0:
        raise ValueError(f"the values of {rows} rows are not those of strings in this block")
    return to[:written], offsets


def keep(at: memoryview, numbers: memoryview, mask: Buffer, value: int) -> tuple[memoryview, memoryview]:
    """The lines (and their numbers) whose byte in `mask` is `value`."""
    rows = len(numbers)
    kept, kept_numbers = int64s(2 * rows), int64s(rows)
    found = _library().assay_json_keep(
        address(at), address(numbers), address(mask), rows, value, address(kept), address(kept_numbers)
    )
    return kept[: 2 * found], kept_numbers[:found]


def runs(block: Buffer, at: memoryview) -> memoryview:
    """Lines with their line feeds as `[runs[2i], runs[2i+1])`: those that follow one another are one run."""
    together = int64s(len(at))
    return together[: 2 * _library().assay_json_runs(len(block), address(at), len(at) // 2, address(together))]


def raw_values(block: Buffer, values: memoryview, kinds: memoryview) -> tuple[memoryview, memoryview]:
    """Values of one field as they stand in the file, strings with their quotes, one after the other, and offsets."""
    rows = len(kinds)
    offsets = int64s(rows + 1)
    room = _library().assay_json_room(address(values), rows) + 2 * rows
    to = memoryview(bytearray(room))
    written = _library().assay_json_raw(
        address(block), len(block), address(values), address(kinds), rows, address(to), room, address(offsets)
    )
    if written < 0:
        raise ValueError(f"the values of {rows} rows are not those of this block")
    return to[:written], offsets


def longest(values: memoryview) -> int:
    """Bytes of the longest value."""
    return int(_library().assay_json_longest(address(values), len(values) // 2))


def address(buffer: Buffer) -> ctypes.c_void_p | ctypes.c_char_p:
    """Where the bytes stand; the caller keeps the buffer alive."""
    if isinstance(buffer, bytes):
        return ctypes.c_char_p(buffer)
    if not len(buffer):
        return ctypes.c_void_p()
    return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(buffer)))


@cache
def _library() -> ctypes.CDLL:
    number, pointer, size = ctypes.c_int64, ctypes.c_void_p, ctypes.c_size_t
    names = (ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(number), number)
    return require(
        {
            "assay_json_count": (number, (pointer, size)),
            "assay_json_lines": (number, (pointer, size, number, pointer, pointer, ctypes.POINTER(number))),
            "assay_json_fields": (number, (pointer, size, pointer, number, *names, pointer, pointer)),
            "assay_json_room": (number, (pointer, number)),
            "assay_json_longest": (number, (pointer, number)),
            "assay_json_keep": (number, (pointer, pointer, pointer, number, ctypes.c_uint8, pointer, pointer)),
            "assay_json_runs": (number, (size, pointer, number, pointer)),
            "assay_json_raw": (number, (pointer, size, pointer, pointer, number, pointer, number, pointer)),
            "assay_json_texts": (number, (pointer, size, pointer, pointer, number, pointer, number, pointer)),
        }
    )
