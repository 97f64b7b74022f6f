from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from assay.errors import AssayError, DataError
from assay.stages.pytorch.hub import cannot_load, is_path, local_path, require_reachable
from assay.stages.pytorch.libraries import library, quiet
from assay.stages.pytorch.options import Options
from assay.untrusted.json_text import parse_json
from assay.untrusted.read_limit import NAMED
from assay.untrusted.regular_file import RegularFile

_MOST_LINE = 16 * 2**20


class TextRowsOptions(Options):
    """Where rows of text come from, and what their columns are called."""

    path: str | None = None
    """A JSON-lines file."""
    name: str | None = None
    """A data set of the hub, or a folder that `datasets` loads."""
    subset: str | None = None
    split: str = "train"
    max_rows: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _one_place(self) -> TextRowsOptions:
        if (self.path is None) == (self.name is None):
            raise ValueError("give `path` or `name`, one of the two")
        return self


class CorpusOptions(TextRowsOptions):
    text_column: str = "text"
    id_column: str = "id"


class QuestionSetOptions(TextRowsOptions):
    split: str = "test"
    question_column: str = "question"
    answers_column: str = "answer"
    document_column: str = "document"


def text_rows(block: str, options: TextRowsOptions) -> list[dict[str, Any]]:
    """The rows; `block` is the key that messages name."""
    if options.path is not None:
        return _of_file(block, Path(options.path), options.max_rows)
    rows = _of_hub(str(options.name), options, f"leave `{block}` out for one that is made here")
    return [dict(row) for row in (rows if options.max_rows is None else rows.take(options.max_rows))]


def _of_hub(name: str, options: TextRowsOptions, instead: str) -> Any:
    datasets = library("datasets", "llm")
    try:
        with quiet():
            if is_path(name):
                return datasets.load_dataset(
                    str(local_path(name, "dataset", instead)), options.subset, split=options.split
                )
            try:
                where = library("huggingface_hub", "llm").snapshot_download(
                    name, repo_type="dataset", local_files_only=True
                )
            except Exception:  # noqa: BLE001  (not here, or not whole: then from the hub)
                require_reachable(name, "dataset", instead)
                where = name
            return datasets.load_dataset(where, options.subset, split=options.split)
    except AssayError:
        raise
    except Exception as error:  # noqa: BLE001  (whatever a file or a network may be wrong in)
        raise cannot_load(name, "dataset", error) from None


def _of_file(block: str, path: Path, most: int | None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    try:
        with RegularFile(path, NAMED) as file:
            for number, line in enumerate(file.lines(_MOST_LINE), 1):
                if most is not None and len(found) == most:
                    break
                if line.strip():
                    row = parse_json(line, f"{path}:{number}")
                    if not isinstance(row, dict):
                        raise DataError(f"{path}:{number}: is no JSON object")
                    found.append(row)
    except FileNotFoundError:
        raise DataError(f"{block}: there is no file {path}; write one with: assay data questions FOLDER") from None
    return found
