from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, field_validator

from assay.stages.pytorch.options import Options

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
