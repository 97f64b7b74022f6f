from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import DataError, UsageError
from assay.names import quote, unknown
from assay.stages.pytorch.component import component
from assay.stages.torchvision_classification.data.data_set_options import GeneratedOptions, LibraryOptions
from assay.stages.torchvision_classification.data.generated_images import GeneratedImages
from assay.stages.torchvision_classification.data.image_split import ImageSplit, is_for_training

VAL_SHARE = 0.2
"""Share for validation of a data set that has no splits of its own."""
_CUT_SEED = 20


def open_splits(options: GeneratedOptions | LibraryOptions) -> list[ImageSplit]:
    """The splits asked for, those that train first. Nothing is downloaded unless the options say so."""
    if isinstance(options, GeneratedOptions):
        drawn = GeneratedImages(
            options.images, options.num_classes, options.image_size, options.difficulty, options.seed
        )
        found = [_cut("the generated data set", drawn, name) for name in options.split]
    else:
        found = [_library_split(options, name) for name in options.split]
    return sorted(found, key=lambda split: not split.trains)


def _cut(what: str, data: Any, name: str) -> ImageSplit:
    """The same images for the same name, whoever asks: who infers on val has not trained on any of it."""
    if name not in ("train", "val"):
        raise UsageError(f"dataset.split: {unknown('split', name, ('train', 'val'))}; {what} is cut into these two")
    mixed = np.random.default_rng(_CUT_SEED).permutation(len(data))
    held_out = int(len(data) * VAL_SHARE)
    return ImageSplit(name, data, np.sort(mixed[held_out:] if name == "train" else mixed[:held_out]), _classes(data))


def _library_split(options: LibraryOptions, name: str) -> ImageSplit:
    kind = _kind(options.component)
    parameters = inspect.signature(kind).parameters
    arguments = options.arguments
    _refuse_unknown(options.component, arguments, parameters)
    whole = True
    folder = options.folder
    if "split" in parameters:
        arguments["split"], whole = name, False
    elif "train" in parameters:
        if name not in ("train", "val", "test"):
            raise UsageError(f"dataset.split: {unknown('split', name, ('train', 'val', 'test'))}")
        arguments["train"], whole = is_for_training(name), False
    elif any((folder / split).is_dir() for split in options.split):
        folder, whole = folder / name, False
    if "root" in parameters:
        arguments["root"] = str(folder)
    if "download" in parameters:
        # Some data sets download unless they are told not to.
        arguments.setdefault("download", False)
    data = _open_data(options, kind, arguments, folder)
    if whole:
        return _cut(options.component, data, name)
    return ImageSplit(name, data, np.arange(len(data)), _classes(data))


def _kind(path: str) -> Any:
    try:
        found = component(path, "vision")
    except ValueError as error:
        raise UsageError(f"dataset.component: {error}") from None
    if not callable(found):
        raise UsageError(f"dataset.component: {quote(path)} is not a data set")
    return found


def _refuse_unknown(path: str, arguments: Mapping[str, Any], parameters: Mapping[str, inspect.Parameter]) -> None:
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return
    own = [name for name in parameters if name not in ("root", "split", "train")]
    for name in arguments:
        if name not in own:
            raise UsageError(f"dataset: {unknown('key', name, own, of=path)}")


def _open_data(options: LibraryOptions, kind: Any, arguments: dict[str, Any], folder: Path) -> Any:
    try:
        return kind(**arguments)
    except (RuntimeError, OSError) as error:
        why = str(error).strip().partition("\n")[0].rstrip(".")
        if arguments.get("download"):
            raise DataError(f"{options.component} could not be downloaded to {folder}: {why}") from None
        put = "or put it there" if "download" not in arguments else "or let it be downloaded with `download: true`"
        raise DataError(
            f"{options.component} cannot be read from {folder} ({why}). "
            f"Set dataset.root to the folder that has it, {put}"
        ) from None
    except (TypeError, ValueError) as error:
        raise UsageError(f"dataset: {options.component}: {error}") from None
    except ImportError as error:
        raise DataError(f"{options.component}: {error}") from None


def _classes(data: Any) -> int | None:
    if (named := getattr(data, "classes", None)) is not None:
        return len(named)
    number = getattr(data, "num_classes", None)
    return number if isinstance(number, int) else None
