from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from glob import glob, has_magic
from pathlib import Path
from typing import IO, Any

from assay.errors import DataError, MissingExtra, UsageError
from assay.pipeline import FileRange, Source, Split
from assay.pipeline.source import decompress, is_compressed
from assay.stages.alm.recording import BadLine, Lines, count_lines

BLOCK = 2**20
"""Bytes in a batch: small enough to stay in a core's cache through all stages."""
LONGEST_LINE = 64 * 2**20
"""Most bytes of a line; a recording of a day with every word timed takes about 15 MB."""


def line_blocks(manifest: IO[bytes], piece: FileRange) -> Iterator[Lines]:
    """Whole lines of a range, about a megabyte at a time. A line belongs to the range its first byte is in."""
    position = _first_line(manifest, piece.start)
    # Where going back is free, the line that a block breaks off in is read again; elsewhere it is carried along.
    rewinds = "://" not in piece.path and not is_compressed(piece.path)
    held = b""
    while piece.end is None or position < piece.end:
        want = min(max(BLOCK, 2 * len(held)), LONGEST_LINE + 1)
        if rewinds:
            manifest.seek(position)
            held = manifest.read(want)
            ended = len(held) < want
        else:
            block = manifest.read(want - len(held))
            held, ended = held + block if held else block, not block
        if not held:
            return
        whole = len(held) if ended else held.rfind(b"\n") + 1
        if not whole and len(held) > LONGEST_LINE:
            bad = BadLine(
                piece.path, position, open_key(held[:BLOCK]), f"the line is longer than {LONGEST_LINE >> 20} MB"
            )
            yield Lines(b"", piece.path, position, 1, bad=(bad,))
            held, position = _after_line(manifest, position + len(held))
            continue
        if piece.end is not None and position + whole >= piece.end:
            last = held.find(b"\n", piece.end - 1 - position) + 1
            whole = last or whole
        if whole:
            data, held = (held, b"") if whole == len(held) else (held[:whole], held[whole:])
            yield Lines(data, piece.path, position, count_lines(data))
            position += whole
            if rewinds:
                held = b""


def open_key(beginning: bytes) -> str:
    """The entry's key whose value the given bytes break off in."""
    depth, key, string = 0, "", b""
    for token in re.findall(rb'"(?:[^"\\]|\\.)*"|[][{}:]', beginning):
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
        elif token == b":" and depth == 1:
            key = string[1:-1].decode(errors="replace")
        string = token
    return key


def _first_line(manifest: IO[bytes], start: int) -> int:
    """The first line that begins at or after `start`; the one before it belongs to the range before."""
    if start == 0:
        return 0
    manifest.seek(start - 1)
    _, position = _after_line(manifest, start - 1)
    manifest.seek(position)
    return position


def _after_line(manifest: IO[bytes], position: int) -> tuple[bytes, int]:
    """Reads on past the next line end: what was read of the line after it, and where that begins."""
    while chunk := manifest.read(BLOCK):
        found = chunk.find(b"\n") + 1
        if found:
            return chunk[found:], position + found
        position += len(chunk)
    return b"", position


SUFFIXES = (".jsonl", ".json", ".jsonl.gz", ".json.gz", ".jsonl.zst", ".json.zst")
CHUNK = 2**20


def manifest_files(paths: Sequence[str]) -> list[str]:
    """Files, folders, globs and addresses, in a fixed order."""
    files: list[str] = []
    for path in paths:
        found = _remote(path) if "://" in path else _local(path)
        if not found:
            raise DataError(f"{path}: no manifest there (looked for *{', *'.join(SUFFIXES)})")
        files.extend(found)
    return files


def file_size(path: str) -> int:
    if "://" in path:
        filesystem, inner = _filesystem(path)
        return int(filesystem.size(inner))
    return os.stat(path).st_size


def open_manifest(path: str) -> IO[bytes]:
    """Bytes of the manifest itself, decompressed if need be."""
    raw: Any
    if "://" in path:
        filesystem, inner = _filesystem(path)
        raw = filesystem.open(inner, "rb")
    else:
        raw = Path(path).open("rb", buffering=0)  # noqa: SIM115  (the caller closes it)
    return decompress(raw, path)


def line_numbers(path: str, offsets: Sequence[int]) -> dict[int, int]:
    """Line numbers of ascending offsets, counted from the file's beginning: only a message to a person is worth it."""
    numbers: dict[int, int] = {}
    position, lines = 0, 1
    with open_manifest(path) as manifest:
        for offset in offsets:
            while position < offset and (chunk := manifest.read(min(CHUNK, offset - position))):
                position += len(chunk)
                lines += chunk.count(b"\n")
            numbers[offset] = lines
    return numbers


def _local(path: str) -> list[str]:
    if os.path.isdir(path):
        inside = (str(found) for found in Path(path).rglob("*") if found.is_file())
        return sorted(found for found in inside if found.endswith(SUFFIXES) and not _is_hidden(found, path))
    if has_magic(path) and not os.path.exists(path):
        return sorted(found for found in glob(path, recursive=True) if os.path.isfile(found))
    if not os.path.exists(path):
        raise DataError(f"{path}: no such file")
    return [path]


def _is_hidden(found: str, folder: str) -> bool:
    return any(part.startswith(".") for part in Path(found).relative_to(folder).parts)


def _remote(path: str) -> list[str]:
    filesystem, inner = _filesystem(path)
    protocol = path.split("://", 1)[0]
    if filesystem.isdir(inner):
        found = [name for name in filesystem.find(inner) if name.endswith(SUFFIXES)]
    elif has_magic(inner):
        found = list(filesystem.glob(inner))
    else:
        found = [inner] if filesystem.exists(inner) else []
    return sorted(name if "://" in name else f"{protocol}://{name}" for name in found)


def _filesystem(path: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingExtra("fsspec", "pipeline") from None
    try:
        filesystem, inner = url_to_fs(path)
    except (ValueError, ImportError) as error:
        raise DataError(f"{path}: cannot be opened: {error}") from None
    return filesystem, inner


SPLITS = 64
SMALLEST, LARGEST = 2**18, 2**24


class ManifestReader(Source):
    """Recordings of audio manifests: the driver partitions the files, the workers read them, as in NeMo Curator."""

    name = "alm_manifest_reader"
    provides = frozenset({"audio_filepath", "audio_sample_rate", "segments"})

    def __init__(self, paths: str | Sequence[str], on_bad_line: str = "fail") -> None:
        if on_bad_line not in ("fail", "skip"):
            raise UsageError(f"--on-bad-line: {on_bad_line!r} is neither fail nor skip")
        self.paths = [paths] if isinstance(paths, str) else list(paths)
        self.skip = on_bad_line == "skip"

    def describe(self) -> Sequence[str]:
        return ("file_partitioning", self.name)

    def splits(self) -> Sequence[Split]:
        sizes = [(path, file_size(path)) for path in manifest_files(self.paths)]
        for path, size in sizes:
            if size == 0 and not self.skip:
                raise DataError(f"{path}:1: segments: the file is empty, it holds no recording")
        target = split_bytes(sum(size for _, size in sizes))
        pieces = [piece for path, size in sizes for piece in _pieces(path, size, target)]
        return [Split(index, (piece,)) for index, piece in enumerate(pieces)]

    def read(self, split: Split) -> Iterator[Lines]:
        for piece in split.ranges:
            try:
                with open_manifest(piece.path) as manifest:
                    yield from line_blocks(manifest, piece)
            except (OSError, EOFError) as error:
                raise DataError(f"{piece.path}: cannot be read: {error}") from None


def split_bytes(total: int) -> int:
    """About a 64th of the data, 256 KB to 16 MB: enough splits to share out, few enough to be cheap."""
    return min(max(total // SPLITS, SMALLEST), LARGEST)


def _pieces(path: str, size: int, target: int) -> list[FileRange]:
    if is_compressed(path) or size <= target:
        return [FileRange(path)]
    count = -(-size // target)
    edges: list[int | None] = [size * piece // count for piece in range(count)]
    return [FileRange(path, start or 0, end) for start, end in zip(edges, [*edges[1:], None], strict=True)]


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
