from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from assay.errors import UsageError
from assay.names import unknown
from assay.stages.pytorch.components import ComponentOptions, OptimizerOptions, Options, component
from assay.stages.pytorch.device import library
from assay.stages.torchvision_classification.model_source import TIMM, build_model, class_count, classifier_layers


def build_criterion(options: ComponentOptions) -> Any:
    """The loss, or what is wrong in the words of the configuration."""
    nn = library("torch.nn", "vision")
    try:
        kind = component(options.component, "vision")
    except ValueError as error:
        raise UsageError(f"criterion.component: {error}") from None
    if not isinstance(kind, type) or not issubclass(kind, nn.Module):
        raise UsageError(
            f"criterion.component: {options.component} is no class of a loss, as torch.nn.CrossEntropyLoss is"
        )
    known = list(inspect.signature(kind).parameters)
    for key in options.arguments:
        if key not in known:
            raise UsageError(f"criterion: {unknown('key', key, known, of=options.component)}")
    try:
        return kind(**options.arguments)
    except (TypeError, ValueError) as error:
        raise UsageError(f"criterion: {options.component}: {error}") from None


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


Scope = Literal["all", "classifier"]


@dataclass
class Classifier:
    """A model with its optimiser, in the mode that the last batch needed."""

    model: Any
    optimizer: Any
    criterion: Any
    device: Any
    scope: Scope
    classes: int
    source: ClassifierOptions
    stepped: bool = False
    """Whether anything was trained."""
    _in_training: bool | None = None

    @classmethod
    def build(
        cls,
        model: ClassifierOptions,
        optimizer: OptimizerOptions,
        criterion: ComponentOptions,
        scope: Scope,
        device: Any,
        seed: int,
    ) -> Classifier:
        library("torch", "vision").manual_seed(seed)
        built = build_model(model).to(device)
        if scope == "classifier":
            built.requires_grad_(False)
            for layer in classifier_layers(built):
                layer.requires_grad_(True)
        trained = [parameter for parameter in built.parameters() if parameter.requires_grad]
        loss = build_criterion(criterion).to(device)
        return cls(built, optimizer.build(trained), loss, device, scope, class_count(built), model)

    def step(self, images: Any, labels: Any) -> tuple[Any, float]:
        """Predicted classes and loss, both from before the step."""
        self._set_mode(training=True)
        outputs = self.model(images.to(self.device))
        if isinstance(outputs, tuple):
            # GoogLeNet and Inception add the outputs of helpers inside them while they train.
            outputs = outputs[0]
        loss = self.criterion(outputs, labels.to(self.device))
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        self.stepped = True
        return outputs.detach().argmax(1), loss.item()

    def infer(self, images: Any, labels: Any) -> tuple[Any, None]:
        import torch

        self._set_mode(training=False)
        with torch.inference_mode():
            return self.model(images.to(self.device)).argmax(1), None

    def _set_mode(self, training: bool) -> None:
        if training == self._in_training:
            return
        self._in_training = training
        # Layers that are not trained keep the statistics of their batch normalisation too, and drop nothing out.
        self.model.train(training and self.scope == "all")
        if training and self.scope == "classifier":
            for layer in classifier_layers(self.model):
                layer.train()

    def notes(self) -> list[str]:
        if not self.source.begins_random:
            return []
        said = []
        if not self.stepped:
            said.append("the model has random weights and was not trained: its times are real, its accuracy is chance")
        elif self.scope == "classifier":
            said.append(
                "only the classifier is trained, and the layers below it have random weights: "
                "give weights or model_checkpoint_path, or `train: all`, if accuracy matters"
            )
        if self.source.name is not None and self.source.name.startswith(TIMM) and "." in self.source.name:
            name = self.source.name
            said.append(f"{name} is the name of weights, which were not loaded: `weights: DEFAULT` loads them")
        return said
