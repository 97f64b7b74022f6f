from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from assay.errors import DataError
from assay.native import json_fields
from assay.native.json_fields import ESCAPED, INTEGER, MISSING, NULL, PLAIN, FieldRanges
from assay.native.library import library
from assay.stages.text.rows import Rows, import_arrow, import_orjson

BLANK = b" \t\n\r\v\f"
Kind = TypeVar("Kind", bound="JsonLines")


@dataclass(frozen=True)
class JsonLines(Rows):
    """Lines of JSON, kept as bytes where they were read: a row that passes through is never written anew.

    With the compiled library their fields are found without parsing (`fields`); whatever it is not sure of, and
    everything where there is none, goes through the strict parser.
    """

    block: bytes
    at: memoryview
    """Line i stands at `[at[2i], at[2i+1])`, without its line feed; none is blank."""
    numbers: memoryview
    """Number of each line in the block, from 0."""
    where: str = ""
    first: int = 1
    """Number of the block's first line in the file, for messages."""

    @classmethod
    def of(cls, block: bytes, size: int, where: str = "", first: int = 1) -> tuple[Self, int]:
        """The lines in the first `size` bytes of a block, and how many there are with the blank ones."""
        if library() is None:
            return cls._plainly(block, size, where, first)
        found = json_fields.lines(block, size)
        return cls(block, found.at, found.numbers, where, first), found.seen

    @classmethod
    def _plainly(cls, block: bytes, size: int, where: str, first: int) -> tuple[Self, int]:
        at, numbers, start, number = array("q"), array("q"), 0, 0
        while start < size:
            feed = block.find(b"\n", start, size)
            end = feed if feed >= 0 else size
            if block[start:end].strip(BLANK):
                at.extend((start, end))
                numbers.append(number)
            start, number = end + 1, number + 1
        return cls(block, memoryview(at), memoryview(numbers), where, first), number

    def __len__(self) -> int:
        return len(self.numbers)

    def __reduce__(self) -> tuple[Any, ...]:
        """Only the lines that are left travel to another process."""
        return _restore, (type(self), b"".join(self.pieces()), self.where, self.line_numbers())

    def slice(self, start: int, stop: int) -> Self:
        return type(self)(
            self.block, self.at[2 * start : 2 * stop], self.numbers[start:stop], self.where, self.first
        )  # fmt: skip

    def pick(self, rows: Sequence[int]) -> Self:
        """Rows by their number in this batch."""
        at = array("q", (end for row in rows for end in self.at[2 * row : 2 * row + 2]))
        numbers = array("q", (self.numbers[row] for row in rows))
        return type(self)(self.block, memoryview(at), memoryview(numbers), self.where, self.first)

    @classmethod
    def concat(cls, batches: Sequence[Self]) -> Self:
        if len(batches) == 1:
            return batches[0]
        content = b"".join(piece for batch in batches for piece in batch.pieces())
        return _restore(cls, content, batches[0].where, [n for batch in batches for n in batch.line_numbers()])

    def line_numbers(self) -> list[int]:
        """Numbers of the lines in the file, from 1."""
        return [self.first + number for number in self.numbers]

    def pieces(self) -> list[memoryview | bytes]:
        """The lines with their line feeds, in as few pieces as they stand in the block."""
        if library() is None:
            return [part for line in self.lines() for part in (line, b"\n")]
        view = memoryview(self.block)
        runs = json_fields.runs(self.block, self.at).tolist()
        pieces: list[memoryview | bytes] = [
            view[start:end] for start, end in zip(runs[::2], runs[1::2], strict=True)
        ]  # fmt: skip
        if runs and self.block[runs[-1] - 1] != 10:
            pieces.append(b"\n")
        return pieces

    def lines(self) -> Iterator[bytes]:
        at = self.at.tolist()
        return (self.block[start:end] for start, end in zip(at[::2], at[1::2], strict=True))

    def fields(self, *names: str) -> FieldRanges | None:
        """Where the fields of every row stand; None where only the strict parser can tell, or say what is wrong."""
        if library() is None or not 0 < len(set(names)) == len(names) <= json_fields.MOST_FIELDS:
            return None
        found = json_fields.scan(self.block, self.at, names)
        return None if found.unsure or MISSING in found.kinds.tobytes() else found

    def columns(self, *names: str) -> list[list[Any]]:
        found = self.fields(*names)
        if found is not None:
            return [self._values(*found.column(at)) for at in range(len(names))]
        columns: list[list[Any]] = [[] for _ in names]
        for at, row in enumerate(self._rows()):
            for name, values in zip(names, columns, strict=True):
                if name not in row:
                    raise DataError(f"{self.place(at)}: {name}: the row has no such field")
                values.append(row[name])
        return columns

    def place(self, row: int) -> str:
        """File and line, for messages."""
        return f"{self.where}:{self.first + self.numbers[row]}"

    def _values(self, ranges: memoryview, kinds: memoryview) -> list[Any]:
        content, offsets = json_fields.texts(self.block, ranges, kinds)
        ends = offsets.tolist()
        values: list[Any] = []
        for at, kind in enumerate(kinds):
            if kind in (PLAIN, ESCAPED):
                values.append(str(content[ends[at] : ends[at + 1]], "utf-8"))
            elif kind == NULL:
                values.append(None)
            else:
                value = self.block[ranges[2 * at] : ranges[2 * at + 1]]
                values.append(int(value) if kind == INTEGER else import_orjson().loads(value))
        return values

    def field_names(self) -> list[str]:
        return list(next(self._rows(), {}))

    def without(self, mask: bytes | bytearray) -> Self:
        if library() is not None:
            kept = json_fields.keep(self.at, self.numbers, mask, 0)
            return type(self)(self.block, *kept, self.where, self.first)
        return self.pick([row for row, gone in enumerate(mask) if not gone])

    def table(self) -> Any:
        rows = list(self._rows())
        try:
            return import_arrow().Table.from_pylist(rows)
        except import_arrow().ArrowException as error:
            raise DataError(f"{self.where}: its rows do not fit one table: {error}") from None

    def _rows(self) -> Iterator[dict[str, Any]]:
        orjson = import_orjson()
        for at, line in enumerate(self.lines()):
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise DataError(f"{self.place(at)}: not JSON: {error}") from None
            if not isinstance(row, dict):
                raise DataError(f"{self.place(at)}: not a JSON object")
            yield row


def _restore(kind: type[Kind], content: bytes, where: str, numbers: Sequence[int]) -> Kind:
    made, _ = kind.of(content, len(content))
    return kind(made.block, made.at, memoryview(array("q", numbers)), where, first=0)
