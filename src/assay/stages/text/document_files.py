from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from assay.errors import DataError, MissingExtra
from assay.stages.text.rows import ArrowRows, JsonLines, Rows, import_arrow

JSONL = (".jsonl", ".json", ".jsonl.gz", ".jsonl.zst")
PARQUET = (".parquet",)
ROWS = 2_000
BYTES = 8 << 20


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
    held = b""
    try:
        with open_bytes(path) as file:
            while True:
                block = file.read(BYTES)
                held += block
                whole = held.rfind(b"\n") + 1 if block else len(held)
                if whole:
                    lines = held[:whole].split(b"\n")
                    if whole and held[whole - 1] == 10:
                        lines.pop()
                    held = held[whole:]
                    yield from _batches(path, lines, first)
                    first += len(lines)
                if not block:
                    return
    except (OSError, EOFError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from None


def _batches(path: str, lines: list[bytes], first: int) -> Iterator[JsonLines]:
    for start in range(0, len(lines), ROWS):
        block = lines[start : start + ROWS]
        if all(block):
            yield JsonLines(block, path, range(first + start, first + start + len(block)))
            continue
        kept = [(line, first + start + at) for at, line in enumerate(block) if line.strip()]
        if kept:
            yield JsonLines([line for line, _ in kept], path, [number for _, number in kept])


def open_bytes(path: str) -> IO[bytes]:
    """The file's content, decompressed if its name says that it is compressed."""
    raw: Any = Path(path).open("rb")  # noqa: SIM115  (the caller closes it)
    if path.endswith(".gz"):
        return cast(IO[bytes], gzip.GzipFile(fileobj=raw))
    if path.endswith(".zst"):
        try:
            import zstandard
        except ImportError:
            raise MissingExtra("zstandard", "pipeline") from None
        return cast(IO[bytes], zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True))
    return cast(IO[bytes], raw)
