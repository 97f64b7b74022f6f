from __future__ import annotations

from typing import Any

from assay.errors import UsageError
from assay.stages.pytorch.libraries import library


def classifier_name(model: Any) -> str:
    """Where in the model the layer is that tells classes apart: the last linear one, or convolution (SqueezeNet)."""
    nn = library("torch.nn", "vision")
    named = [name for name, layer in model.named_modules() if isinstance(layer, nn.Linear | nn.Conv2d)]
    if not named:
        raise UsageError(
            f"model: {type(model).__name__} has no linear layer or convolution that could be its classifier"
        )
    return str(named[-1])


def class_count(model: Any) -> int:
    layer = model.get_submodule(classifier_name(model))
    return int(getattr(layer, "out_features", None) or layer.out_channels)


def replace_classifier(model: Any, num_classes: int) -> None:
    """A new layer, with random weights, for another number of classes."""
    nn = library("torch.nn", "vision")
    name = classifier_name(model)
    old = model.get_submodule(name)
    with_bias = old.bias is not None
    if isinstance(old, nn.Linear):
        new = nn.Linear(old.in_features, num_classes, bias=with_bias)
    else:
        new = nn.Conv2d(old.in_channels, num_classes, old.kernel_size, old.stride, old.padding, bias=with_bias)
    parent, _, own = name.rpartition(".")
    setattr(model.get_submodule(parent), own, new)
