"""What can be imported: a safetensors file, a PyTorch file, or a folder of shards with or without an index."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from assay.errors import DataError, UsageError
from assay.files.json_text import read_json
from assay.files.reading import NAMED
from assay.weights.element_types import ELEMENT_TYPES
from assay.weights.files.safetensors_file import SafetensorsFile, write_safetensors
from assay.weights.files.torch_file import TorchFile
from assay.weights.repository import Repository
from assay.weights.store import Tensor
from assay.weights.versions.commit import TensorEntry

_TORCH = (".bin", ".pt", ".pth", ".ckpt")


class Shards(Mapping[str, Tensor]):
    """Several files as one model."""

    def __init__(self, files: list[Mapping[str, Tensor]], wanted: Mapping[str, int] | None = None) -> None:
        self._files = files
        self._where: dict[str, int] = {}
        if wanted is not None:
            self._where = dict(wanted)
            return
        for number, file in enumerate(files):
            for name in file:
                if name in self._where:
                    raise DataError(f"tensor {name!r} is in two of the files; import them one at a time")
                self._where[name] = number

    def __getitem__(self, name: str) -> Tensor:
        return self._files[self._where[name]][name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._where)

    def __len__(self) -> int:
        return len(self._where)


def open_model(path: str | Path) -> Mapping[str, Tensor]:
    path = Path(path)
    if path.is_dir():
        return _open_folder(path)
    if not path.exists():
        raise DataError(f"{path} does not exist; give a .safetensors or PyTorch file, or a folder of them")
    if path.suffix == ".safetensors":
        return SafetensorsFile(path)
    if path.suffix in _TORCH:
        return TorchFile(path)
    raise DataError(f"{path} is not a model that can be read: use .safetensors, or one of {', '.join(_TORCH)}")


def _open_folder(folder: Path) -> Mapping[str, Tensor]:
    for pattern in ("*.safetensors.index.json", "*.bin.index.json"):
        indexes = sorted(folder.glob(pattern))
        if len(indexes) == 1:
            return _open_index(indexes[0])
        if indexes:
            raise DataError(f"{folder} has several indexes ({', '.join(p.name for p in indexes)}); give one file")
    for pattern in ("*.safetensors", *(f"*{suffix}" for suffix in _TORCH)):
        files = sorted(folder.glob(pattern))
        if files:
            return Shards([open_model(file) for file in files])
    raise DataError(f"{folder} has no .safetensors or PyTorch files")


def _open_index(index: Path) -> Mapping[str, Tensor]:
    try:
        mapping = read_json(index, NAMED)["weight_map"]
        names = sorted({str(file) for file in mapping.values()})
    except (FileNotFoundError, KeyError, TypeError, AttributeError):
        raise DataError(f"{index} is not an index: it must be JSON with a weight_map") from None
    for name in names:
        # A name with a folder in it could point anywhere.
        if Path(name).name != name or not (index.parent / name).is_file():
            raise DataError(f"{index}: weight_map names {name!r}, which is not a file beside it")
    files = [open_model(index.parent / name) for name in names]
    where = {}
    for tensor, file in mapping.items():
        number = names.index(str(file))
        if tensor not in files[number]:
            raise DataError(f"{index}: tensor {tensor!r} is not in {file}")
        where[tensor] = number
    return Shards(files, where)


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
