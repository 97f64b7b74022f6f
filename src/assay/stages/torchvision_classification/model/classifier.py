from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from assay.stages.pytorch.libraries import library
from assay.stages.pytorch.optimizer_options import OptimizerOptions
from assay.stages.pytorch.options import ComponentOptions
from assay.stages.torchvision_classification.model.classifier_layer import class_count, classifier_layers
from assay.stages.torchvision_classification.model.classifier_options import ClassifierOptions
from assay.stages.torchvision_classification.model.criterion import build_criterion
from assay.stages.torchvision_classification.model.model_source import build_model
from assay.stages.torchvision_classification.model.timm_name import TIMM

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
