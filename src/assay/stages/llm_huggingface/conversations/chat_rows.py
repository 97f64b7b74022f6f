from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import AssayError, DataError
from assay.names import unknown
from assay.stages.llm_huggingface.conversations.chat_row import ChatRow
from assay.stages.llm_huggingface.conversations.dataset_options import DatasetOptions
from assay.stages.pytorch.hub import cannot_load, is_path, local_path, require_reachable
from assay.stages.pytorch.libraries import library, quiet
from assay.stages.pytorch.tiny_model import TINY
from assay.stages.pytorch.tiny_rows import tiny_rows

_READERS = {".json": "json", ".jsonl": "json", ".csv": "csv", ".parquet": "parquet"}


@dataclass(frozen=True)
class ChatRows:
    """The rows of one split, read when they are asked for."""

    split: str
    columns: tuple[str | None, str | None, str | None]
    """Names of the columns of system, user and assistant text."""
    data: Any
    """A `datasets.Dataset`, or a list of mappings."""
    instruction: str | None = None

    def __len__(self) -> int:
        return len(self.data)

    def take(self, at: Iterable[int]) -> list[ChatRow]:
        return [self._row(self.data[int(each)]) for each in at]

    def _row(self, row: Any) -> ChatRow:
        system, user, assistant = ("" if name is None else str(row[name] or "") for name in self.columns)
        return ChatRow(self.instruction or system, user, assistant)


def read_chat_rows(options: DatasetOptions, splits: Sequence[str]) -> list[ChatRows]:
    columns = (
        options.system_column_name if options.instruction is None else None,
        options.user_column_name,
        options.assistant_column_name,
    )
    if options.name == TINY:
        found: list[Any] = [[vars(row) for row in tiny_rows(split)] for split in splits]
        names = [*vars(tiny_rows("test")[0])]
    else:
        found = _read(options, list(splits))
        names = list(found[0].column_names)
    for column in columns:
        if column is not None and column not in names:
            raise DataError(f"dataset {options.name!r}: {unknown('column', column, names)}")
    for split, rows in zip(splits, found, strict=True):
        if len(rows) == 0:
            raise DataError(f"dataset {options.name!r}: the split {split!r} has no rows")
    return [ChatRows(split, columns, rows, options.instruction) for split, rows in zip(splits, found, strict=True)]


def _read(options: DatasetOptions, splits: list[str]) -> list[Any]:
    datasets = library("datasets", "llm")
    try:
        with quiet():
            if is_path(options.name):
                return _from_path(datasets, local_path(options.name, "dataset"), options, splits)
            return _from_hub(datasets, options, splits)
    except AssayError:
        raise
    except Exception as error:  # noqa: BLE001  (whatever a file or a network may be wrong in)
        raise cannot_load(options.name, "dataset", error) from None


def _from_path(datasets: Any, path: Path, options: DatasetOptions, splits: list[str]) -> list[Any]:
    reader = _READERS.get(path.suffix)
    if reader is not None:
        # A file is one split, whatever it is called.
        return [datasets.load_dataset(reader, data_files=str(path), split="train") for _ in splits]
    if path.is_file():
        raise DataError(f"dataset {options.name!r}: {unknown('kind of file', path.suffix, _READERS)}")
    if (path / "dataset_dict.json").exists():
        saved = datasets.load_from_disk(str(path))
        if wrong := [split for split in splits if split not in saved]:
            raise DataError(f"dataset {options.name!r}: {unknown('split', wrong[0], saved)}")
        return [saved[split] for split in splits]
    if (path / "dataset_info.json").exists():
        return [datasets.load_from_disk(str(path)) for _ in splits]
    loaded: list[Any] = datasets.load_dataset(str(path), options.subset, split=splits)
    return loaded


def _from_hub(datasets: Any, options: DatasetOptions, splits: list[str]) -> list[Any]:
    hub = library("huggingface_hub", "llm")
    try:
        # What was downloaded before is used as it is, without asking the network.
        folder = hub.snapshot_download(options.name, repo_type="dataset", local_files_only=True)
    except Exception:  # noqa: BLE001  (not there, or not whole: then from the hub)
        require_reachable(options.name, "dataset")
        folder = options.name
    loaded: list[Any] = datasets.load_dataset(folder, options.subset, split=splits)
    return loaded
