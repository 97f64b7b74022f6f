from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from assay.errors import UsageError
from assay.weights.dtype import ELEMENT_TYPES
from assay.weights.files.safetensors_file import write_safetensors
from assay.weights.repository import Repository
from assay.weights.versions.commit import TensorEntry


def export_model(repository: Repository, ref: str, target: str | Path, shard_bytes: int | None = None) -> list[Path]:
    """A version as one .safetensors file, or as a folder of shards with an index. The files written."""
    target = Path(target)
    entries = list(repository.show(ref).entries)
    if shard_bytes is None:
        if target.suffix != ".safetensors":
            raise UsageError(f"{target} must end in .safetensors (or give --shard-mb to write a folder of shards)")
        target.parent.mkdir(parents=True, exist_ok=True)
        _write(repository, ref, target, entries)
        return [target]
    target.mkdir(parents=True, exist_ok=True)
    shards = list(_shards(entries, shard_bytes))
    written = []
    weight_map: dict[str, str] = {}
    for number, shard in enumerate(shards, 1):
        path = target / f"model-{number:05d}-of-{len(shards):05d}.safetensors"
        _write(repository, ref, path, shard)
        weight_map |= {entry.name: path.name for entry in shard}
        written.append(path)
    index = target / "model.safetensors.index.json"
    total = sum(_bytes(entry) for entry in entries)
    index.write_text(json.dumps({"metadata": {"total_size": total}, "weight_map": weight_map}, indent=1))
    return [*written, index]


def _write(repository: Repository, ref: str, path: Path, entries: list[TensorEntry]) -> None:
    write_safetensors(path, [(e.name, e.dtype, e.shape, partial(repository.tensor, ref, e.name)) for e in entries])


def _bytes(entry: TensorEntry) -> int:
    return entry.size * ELEMENT_TYPES[entry.dtype].itemsize


def _shards(entries: list[TensorEntry], limit: int) -> Iterator[list[TensorEntry]]:
    shard: list[TensorEntry] = []
    size = 0
    for entry in entries:
        if shard and size + _bytes(entry) > limit:
            yield shard
            shard, size = [], 0
        shard.append(entry)
        size += _bytes(entry)
    if shard or not entries:
        yield shard
