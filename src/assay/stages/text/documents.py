from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import SEEK_CUR, FileIO
from pathlib import Path
from typing import IO, Any, BinaryIO, Self, TypeVar

from assay.errors import DataError, UsageError
from assay.names import unknown
from assay.native import json_fields
from assay.native.json_fields import ESCAPED, INTEGER, MISSING, NULL, PLAIN, FieldRanges
from assay.native.library import library
from assay.pipeline import FileRange, Part, Source, Split, Writer
from assay.pipeline.source import decompress
from assay.stages.text.document_rows import ArrowRows, ColumnRows, Rows, import_arrow, import_orjson

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


JSONL = (".jsonl", ".json", ".jsonl.gz", ".jsonl.zst")
PARQUET = (".parquet",)
ROWS = 2_000
"""Rows of a Parquet file in a batch."""
BYTES = 2 << 20
"""Bytes of a JSONL file in a batch: few enough to stay in a processor's cache from one stage to the next."""


def document_files(path: str) -> list[Path]:
    """A file, or the JSONL and Parquet files under a folder, in the order of their names."""
    root = Path(path)
    if root.is_file():
        return [root]
    if not root.is_dir():
        raise DataError(f"{path}: no such file or folder")
    found = [
        inside
        for inside in sorted(root.rglob("*"))
        if inside.is_file()
        and inside.name.endswith((*JSONL, *PARQUET))
        and not any(part.startswith(".") for part in inside.relative_to(root).parts)
    ]
    if not found:
        raise DataError(f"{path}: no documents there (looked for *{', *'.join((*JSONL, *PARQUET))})")
    return found


def read_documents(path: str) -> Iterator[Rows]:
    if path.endswith(PARQUET):
        yield from _parquet(path)
    else:
        yield from _lines(path)


def _parquet(path: str) -> Iterator[Rows]:
    arrow = import_arrow()
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=ROWS):
                yield ArrowRows(arrow.Table.from_batches([batch]), path)
    except (arrow.ArrowException, OSError) as error:
        raise DataError(f"{path}: cannot be read as Parquet: {error}") from None


def _lines(path: str) -> Iterator[Rows]:
    first = 1
    try:
        with open_bytes(path) as file:
            for block, size in _reread_blocks(file) if isinstance(file, FileIO) else _join_blocks(file):
                rows, seen = JsonLines.of(block, size, path, first)
                first += seen
                if len(rows):
                    yield rows
    except (OSError, EOFError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from None


def _reread_blocks(file: FileIO) -> Iterator[tuple[bytes, int]]:
    """Blocks, and how many of a block's bytes are whole lines: the others are read again, not copied."""
    size = BYTES
    while block := file.read(size):
        whole = block.rfind(b"\n") + 1 or (len(block) if len(block) < size else 0)
        # No line feed in all of it: the line is longer, and the next block twice as long.
        size = BYTES if whole else 2 * size
        if whole < len(block):
            file.seek(whole - len(block), SEEK_CUR)
        if whole:
            yield block, whole


def _join_blocks(file: IO[bytes]) -> Iterator[tuple[bytes, int]]:
    """The same as `_reread_blocks`, for a file that can only be read forward."""
    block, size = b"", BYTES
    while read := file.read(size):
        block += read
        whole = block.rfind(b"\n") + 1
        size = BYTES if whole else 2 * size
        if whole:
            yield block, whole
        block = block[whole:]
    if block:
        yield block, len(block)


def open_bytes(path: str) -> IO[bytes]:
    """The file's content, decompressed if its name says that it is compressed."""
    raw: Any = Path(path).open("rb", buffering=0)  # noqa: SIM115  (the caller closes it)
    return decompress(raw, path)


class DocumentReader(Source):
    """Documents of JSONL or Parquet files: the driver partitions the files, the workers read them, as in NeMo Curator.

    A partition is `files_per_partition` files; what comes out of it is one part file.
    """

    def __init__(self, path: str, files_per_partition: int = 1, max_files: int | None = None) -> None:
        if files_per_partition < 1:
            raise UsageError(f"--files-per-partition: {files_per_partition} is not a number of files")
        if max_files is not None and max_files < 1:
            raise UsageError(f"--max-files: {max_files} is not a number of files")
        self.path = path
        self.files_per_partition = files_per_partition
        self.max_files = max_files
        self.name = "document_reader"

    def describe(self) -> Sequence[str]:
        return ("file_partitioning", self.name)

    def splits(self) -> Sequence[Split]:
        files = document_files(self.path)[: self.max_files]
        step = self.files_per_partition
        groups = [files[start : start + step] for start in range(0, len(files), step)]
        return [Split(at, tuple(FileRange(str(file)) for file in group)) for at, group in enumerate(groups)]

    def read(self, split: Split) -> Iterator[Rows]:
        for piece in split.ranges:
            yield from read_documents(piece.path)


def format_of(path: str) -> str:
    """Format of the documents there: that of their first file."""
    return "parquet" if document_files(path)[0].name.endswith(PARQUET) else "jsonl"


def document_reader(path: str, files_per_partition: int = 1, max_files: int | None = None) -> DocumentReader:
    """A reader with the name that NeMo Curator's has, by what it reads, so that a session's records tell times
    apart."""
    reader = DocumentReader(path, files_per_partition, max_files)
    reader.name = f"{format_of(path)}_reader"
    return reader


FORMATS = ("jsonl", "parquet")
PIECES = 1_024
"""Pieces that the kernel takes at once (IOV_MAX)."""


class JsonlWriter(Writer[Rows]):
    name = "jsonl_writer"

    def __init__(self, folder: str | Path) -> None:
        super().__init__(folder, ".jsonl")

    def write(self, data: Rows, out: BinaryIO) -> int:
        if isinstance(data, JsonLines):
            write_pieces(out.fileno(), data.pieces())
            return len(data)
        dumps = import_orjson().dumps
        rows = data.rows() if isinstance(data, ColumnRows) else data.table().to_pylist()
        write_pieces(out.fileno(), [dumps(row) + b"\n" for row in rows])
        return len(data)


def write_pieces(file: int, pieces: list[memoryview | bytes]) -> None:
    """All of them, from where they stand: nothing is copied together first."""
    for start in range(0, len(pieces), PIECES):
        left = pieces[start : start + PIECES]
        while left:
            written = os.writev(file, left)
            while left and written >= len(left[0]):
                written -= len(left.pop(0))
            if left:
                left[0] = memoryview(left[0])[written:]


class ParquetWriter(Writer[Rows]):
    """The first batch of a split gives its schema; a split without rows gives a file without columns."""

    name = "parquet_writer"

    def __init__(self, folder: str | Path) -> None:
        super().__init__(folder, ".parquet")

    def begin(self, split: Split) -> None:
        super().begin(split)
        self._parquet: Any = None

    def write(self, data: Rows, out: BinaryIO) -> int:
        table = data.table()
        if self._parquet is None:
            self._parquet = _open(out, table.schema)
        elif table.schema != self._parquet.schema:
            table = table.select(self._parquet.schema.names).cast(self._parquet.schema)
        self._parquet.write_table(table)
        return int(table.num_rows)

    def finish(self) -> Part:
        if self._parquet is None:
            self._parquet = _open(self._out, import_arrow().schema([]))
        self._parquet.close()
        return super().finish()

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_parquet": None}


def _open(out: Any, schema: Any) -> Any:
    from pyarrow.parquet import ParquetWriter as ArrowWriter

    return ArrowWriter(out, schema, compression="zstd")


def writer_for(form: str, folder: str | Path) -> Writer[Rows]:
    if form not in FORMATS:
        raise UsageError(f"--output-format: {unknown('format', form, FORMATS)}")
    return JsonlWriter(folder) if form == "jsonl" else ParquetWriter(folder)
