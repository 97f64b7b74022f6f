from __future__ import annotations

import os
from collections.abc import Sequence
from glob import glob, has_magic
from pathlib import Path
from typing import IO, Any

from assay.errors import DataError, MissingExtra
from assay.pipeline.compressed_file import decompress

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
