from __future__ import annotations

from typing import Any

from assay.errors import UsageError
from assay.stages.pytorch.libraries import library


def classifier_layers(model: Any) -> list[Any]:
    """The layers that tell classes apart.

    timm's models know their own, and a few have two; of others it is the last linear layer or convolution (SqueezeNet).
    """
    nn = library("torch.nn", "vision")
    if _is_of_timm(model):
        found = model.get_classifier()
        return list(found) if isinstance(found, tuple | list) else [found]
    return [model.get_submodule(_last_layer(nn, model))]


def class_count(model: Any) -> int:
    """0 where the model has no classifier."""
    if _is_of_timm(model):
        return int(model.num_classes)
    (layer,) = classifier_layers(model)
    return int(getattr(layer, "out_features", None) or layer.out_channels)


def replace_classifier(model: Any, num_classes: int) -> None:
    """A new layer, with random weights, for another number of classes."""
    nn = library("torch.nn", "vision")
    if _is_of_timm(model):
        model.reset_classifier(num_classes)
        return
    name = _last_layer(nn, model)
    old = model.get_submodule(name)
    with_bias = old.bias is not None
    if isinstance(old, nn.Linear):
        new = nn.Linear(old.in_features, num_classes, bias=with_bias)
    else:
        new = nn.Conv2d(old.in_channels, num_classes, old.kernel_size, old.stride, old.padding, bias=with_bias)
    parent, _, own = name.rpartition(".")
    setattr(model.get_submodule(parent), own, new)


def _is_of_timm(model: Any) -> bool:
    return all(hasattr(model, name) for name in ("get_classifier", "reset_classifier", "num_classes"))


def _last_layer(nn: Any, model: Any) -> str:
    named = [name for name, layer in model.named_modules() if isinstance(layer, nn.Linear | nn.Conv2d)]
    if not named:
        raise UsageError(
            f"model: {type(model).__name__} has no linear layer or convolution that could be its classifier"
        )
    return str(named[-1])
