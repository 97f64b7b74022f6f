from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, field_validator

from assay.errors import DataError, UsageError
from assay.names import quote, unknown
from assay.stages.pytorch.components import Options, component

Count = Annotated[int, Field(ge=1)]
IMAGE_FOLDER = "torchvision.datasets.ImageFolder"


class DataSetOptions(Options):
    """What the block `dataset:` has of any data set."""

    split: tuple[str, ...] = ("train", "val")
    weights: str | None = None
    """The model weights whose preprocessing the images get."""
    resize: Count | None = None
    """Side in pixels of the square that preprocessing makes of an image."""

    @field_validator("split", mode="before")
    @classmethod
    def _one_or_more(cls, given: Any) -> Any:
        return (given,) if isinstance(given, str) else given

    @field_validator("split")
    @classmethod
    def _each_once(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        if not given or len(set(given)) < len(given):
            raise ValueError("name at least one split, and each once")
        return given


class GeneratedOptions(DataSetOptions):
    """Options of a data set whose images are drawn, not read."""

    num_classes: Annotated[int, Field(ge=2)] = 10
    images: Count = 400
    image_size: Annotated[int, Field(ge=8)] = 32
    difficulty: Annotated[float, Field(ge=0, lt=1)] = 0.5
    """Share of noise: with 0 two images of a class differ little, towards 1 hardly anything tells classes apart."""
    seed: int = 0


class LibraryOptions(DataSetOptions):
    """Options of a data set of torchvision's or of the user's own, by its dotted path; keys not named here go to it."""

    model_config = ConfigDict(extra="allow", frozen=True, protected_namespaces=())

    component: str = IMAGE_FOLDER
    root: Path | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        return dict(self.model_extra or {})

    @property
    def folder(self) -> Path:
        return self.root or Path("tmp", "torchvision_dataset", self.component.rpartition(".")[2])


def read_data_set_options(given: Mapping[str, Any] | None) -> GeneratedOptions | LibraryOptions:
    """Images are drawn unless a component or a folder says where they come from."""
    if isinstance(given, Mapping) and not {"component", "root"}.isdisjoint(given):
        return LibraryOptions.read("dataset", given)
    return GeneratedOptions.read("dataset", given)


def decode_image(image: Any) -> Any:
    """A uint8 tensor (3, height, width), from what a data set holds: an image of PIL's, an array or a tensor."""
    # Called for every image, long after set-up has imported both through `library`, which takes longer.
    import torch
    from torchvision.transforms import functional

    if not isinstance(image, torch.Tensor):
        image = functional.pil_to_tensor(_pil(image).convert("RGB"))
    if image.dtype != torch.uint8:
        image = functional.convert_image_dtype(image, torch.uint8)
    if image.ndim == 2:
        image = image[None]
    return image.expand(3, -1, -1) if image.shape[0] == 1 else image[:3]


def _pil(image: Any) -> Any:
    if hasattr(image, "convert"):
        return image
    from PIL import Image

    return Image.fromarray(image)


_COARSE = 4
"""Fields a side of the pattern that all images of a class share."""


class GeneratedImages:
    """Images that can be told apart, but only by who has learnt how: image n is of class n modulo `num_classes`.

    A class is a random pattern of coloured fields. An image is that pattern, moved by up to an eighth of its side,
    under light of its own and noise. The same seed gives the same images.
    """

    def __init__(self, images: int, num_classes: int, image_size: int, difficulty: float, seed: int) -> None:
        self.num_classes = num_classes
        self._images = images
        self._size = image_size
        self._difficulty = difficulty
        self._seed = seed
        fields = np.random.default_rng([seed, 0]).uniform(-1, 1, (num_classes, 3, _COARSE, _COARSE))
        repeat = -(-image_size // _COARSE)
        self._patterns = np.kron(fields, np.ones((1, 1, repeat, repeat)))[:, :, :image_size, :image_size]

    def __len__(self) -> int:
        return self._images

    def __getitem__(self, n: int) -> tuple[Any, int]:
        import torch

        rng = np.random.default_rng([self._seed, 1, n])
        label = n % self.num_classes
        most = self._size // 8
        moved = np.roll(self._patterns[label], rng.integers(-most, most + 1, 2), (1, 2))
        noise = rng.standard_normal(moved.shape, np.float32)
        light = rng.uniform(-30, 30)
        pixels = 128 + light + 100 * ((1 - self._difficulty) * moved + self._difficulty * noise)
        return torch.from_numpy(np.clip(pixels, 0, 255).astype(np.uint8)), label


@dataclass(frozen=True)
class ImageSplit:
    """Part of a data set: `data[i]` is an image and its label, for each i of `indices`."""

    name: str
    data: Any
    indices: NDArray[np.int64]
    classes: int | None = None

    @property
    def trains(self) -> bool:
        return is_for_training(self.name)

    def __len__(self) -> int:
        return len(self.indices)

    def image(self, index: int) -> tuple[Any, int]:
        """A uint8 tensor (3, height, width), and the label."""
        try:
            image, label = self.data[index]
            return decode_image(image), int(label)
        except Exception as error:  # noqa: BLE001  (data sets raise what they like; its words are kept)
            what = f"{type(error).__name__}: {error}"
            raise DataError(f"image {index} of the split {self.name!r} cannot be read: {what}") from None

    def preload(self) -> ImageSplit:
        """The same, read and decoded, in memory."""
        return ImageSplit(self.name, {i: self.image(i) for i in self.indices.tolist()}, self.indices, self.classes)


def is_for_training(split: str) -> bool:
    """`train`, `trainval`, `train-standard`: data sets name it differently, but all begin so."""
    return split.startswith("train")


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
