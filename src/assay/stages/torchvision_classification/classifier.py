from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from assay.errors import UsageError
from assay.stages.pytorch.build_component import build_component
from assay.stages.pytorch.libraries import library
from assay.stages.pytorch.options import ComponentOptions
from assay.stages.torchvision_classification.classifier_layer import class_count, classifier_layers
from assay.stages.torchvision_classification.model_options import ModelOptions
from assay.stages.torchvision_classification.model_source import build_model
from assay.stages.torchvision_classification.timm_name import TIMM

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
    notes: list[str] = field(default_factory=list)
    _in_training: bool | None = None

    @classmethod
    def build(
        cls,
        model: ModelOptions,
        optimizer: ComponentOptions,
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
        stepping = build_component("optimizer", optimizer, "vision", trained)
        judging = build_component("criterion", criterion, "vision")
        if not hasattr(stepping, "step"):
            raise UsageError(f"optimizer.component: {optimizer.component} is not an optimiser")
        if not callable(judging):
            raise UsageError(f"criterion.component: {criterion.component} is not a loss")
        judging = judging.to(device) if hasattr(judging, "to") else judging
        return cls(built, stepping, judging, device, scope, class_count(built), _notes(model, scope))

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


def _notes(model: ModelOptions, scope: Scope) -> list[str]:
    said = []
    if model.weights is None and model.model_checkpoint_path is None:
        if scope == "classifier":
            said.append(
                "only the classifier is trained, and the layers below it have random weights: "
                "give weights or model_checkpoint_path, or `train: all`, if accuracy matters"
            )
        if model.name is not None and model.name.startswith(TIMM) and "." in model.name:
            said.append(f"{model.name} is the name of weights, which were not loaded: `weights: DEFAULT` loads them")
    return said
