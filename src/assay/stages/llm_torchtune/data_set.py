from __future__ import annotations

import functools
import inspect
from pathlib import Path
from typing import Any

from assay.errors import AssayError, DataError, UsageError
from assay.stages.llm_torchtune.tiny_conversations import TinyConversations
from assay.stages.llm_torchtune.torchtune_library import current_path, takes
from assay.stages.pytorch.build_component import build_component
from assay.stages.pytorch.component import component
from assay.stages.pytorch.hub import is_path, require_reachable
from assay.stages.pytorch.libraries import library, quiet
from assay.stages.pytorch.options import ComponentOptions

_READERS = ("arrow", "csv", "json", "parquet", "text", "webdataset", "xml")
"""Sources that are kinds of files, named by `data_files`."""
_OTHERWISE = "give `source: json` and `data_files: FILE`, or leave `dataset` out for the one that is made here"


class TuneDatasetOptions(ComponentOptions):
    """A builder of torchtune's and its keys: `source`, `data_files`, `packed`, …"""


def open_data_set(options: TuneDatasetOptions | None, tokenizer: Any, masked: bool) -> Any:
    """Rows of tokens and labels, by number. `masked`: prompts are told from answers, where the data set can do so."""
    if options is None:
        return TinyConversations(tokenizer)
    path = current_path(options.component)
    try:
        builder = component(path, "torchtune")
    except ValueError as error:
        raise UsageError(f"dataset.component: {error}") from None
    arguments = options.arguments
    if masked and takes(path, "train_on_input"):
        arguments.setdefault("train_on_input", False)
    source = _source(builder, arguments)
    if source and source not in _READERS and not is_path(source):
        arguments["source"] = _from_hub(source)
    for name in _files(arguments.get("data_files")):
        if not Path(name).is_file() and "://" not in name and "*" not in name:
            raise DataError(f"dataset.data_files: there is no file {Path(name).absolute()}")
    library("datasets", "llm").disable_progress_bars()
    try:
        with quiet():
            return build_component("dataset", ComponentOptions(component=path, **arguments), "torchtune", tokenizer)
    except AssayError:
        raise
    except Exception as error:  # noqa: BLE001  (whatever a file may be wrong in)
        why = next(iter(str(error).splitlines()), "")
        what = source or options.component
        raise DataError(f"dataset: {what} cannot be loaded: {type(error).__name__}: {why}; or {_OTHERWISE}") from None


def _source(builder: Any, arguments: dict[str, Any]) -> str:
    """Where the rows come from: as given, else the builder's own; nothing for one that has no such key."""
    kept = builder.keywords if isinstance(builder, functools.partial) else {}
    try:
        parameter = inspect.signature(builder).parameters.get("source")
    except (TypeError, ValueError):
        return ""
    default = None if parameter is None or parameter.default is parameter.empty else parameter.default
    return str(arguments.get("source") or kept.get("source") or default or "")


def _from_hub(name: str) -> str:
    """What was downloaded before is used as it is, without asking the network."""
    try:
        with quiet():
            found = library("huggingface_hub", "llm").snapshot_download(
                name, repo_type="dataset", local_files_only=True
            )
    except Exception:  # noqa: BLE001  (not there, or not whole: then from the hub)
        require_reachable(name, "dataset", _OTHERWISE)
        return name
    return str(found)


def _files(given: Any) -> list[str]:
    if isinstance(given, dict):
        return [name for value in given.values() for name in _files(value)]
    return [given] if isinstance(given, str) else [str(name) for name in given or ()]
