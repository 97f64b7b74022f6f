from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from assay.stages.pytorch.options import Options

DEFAULT_MODEL = "timm/test_convnext"
"""207,778 parameters with ten classes: it learns the generated images in seconds on a laptop."""


class ClassifierOptions(Options):
    """The block `model:`."""

    component: str | None = None
    """A function or class by its dotted path: `torchvision.models.resnet18`."""
    name: str | None = None
    """A model of torchvision's (`resnet18`) or of timm's (`timm/resnet18.a1_in1k`)."""
    weights: str | None = None
    """`DEFAULT`, or the weights' name; None begins with random ones."""
    model_checkpoint_path: Path | None = None
    replace_classifier: bool = False
    num_classes: Annotated[int, Field(ge=2)] | None = None
    """None leaves the number that the model has by itself."""

    @property
    def begins_random(self) -> bool:
        """A user's own component may load weights by itself."""
        own = self.component is not None and not self.component.startswith("torchvision.")
        return self.weights is None and self.model_checkpoint_path is None and not own

    @field_validator("weights", mode="before")
    @classmethod
    def _yes_or_no(cls, given: Any) -> Any:
        if isinstance(given, bool):
            return "DEFAULT" if given else None
        return given

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.component is None) == (self.name is None):
            raise ValueError("give component or name, and not both")
        if self.replace_classifier and self.num_classes is None:
            raise ValueError("replace_classifier needs num_classes")
        if self.weights is not None and self.model_checkpoint_path is not None:
            raise ValueError("weights and model_checkpoint_path both say where the model's weights are: keep one")
        return self


def read_classifier_options(given: Mapping[str, Any] | None) -> ClassifierOptions:
    if given is None:
        return ClassifierOptions(name=DEFAULT_MODEL, num_classes=10)
    if isinstance(given, Mapping) and not {"component", "name"} & given.keys():
        given = {"name": DEFAULT_MODEL, "num_classes": 10, **given}
    return ClassifierOptions.read("model", given)
