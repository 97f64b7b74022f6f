from __future__ import annotations

from collections.abc import Iterator
from io import SEEK_CUR, FileIO
from pathlib import Path
from typing import IO, Any

from assay.errors import DataError
from assay.pipeline.compressed_file import decompress
from assay.stages.text.json_lines import JsonLines
from assay.stages.text.rows import ArrowRows, Rows, import_arrow

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
