from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any

from assay.errors import DataError, UsageError
from assay.names import unknown
from assay.stages.pytorch.component import component
from assay.stages.pytorch.libraries import library, quiet
from assay.stages.torchvision_classification.model.checkpoint import load_checkpoint
from assay.stages.torchvision_classification.model.classifier_layer import class_count, replace_classifier
from assay.stages.torchvision_classification.model.classifier_options import ClassifierOptions
from assay.stages.torchvision_classification.model.pretrained import timm_weights, torch_cache, torchvision_weights
from assay.stages.torchvision_classification.model.timm_name import TIMM, timm_name


def build_model(options: ClassifierOptions) -> Any:
    """The module, on the CPU. Its classifier is replaced first and a checkpoint loaded then: a checkpoint of an earlier
    training has the replaced classifier."""
    if options.name is not None and options.name.startswith(TIMM):
        model = _from_timm(options, timm_name(options.name, "model.name"))
    else:
        model = _from_torchvision_or_own(options)
    if options.replace_classifier and options.num_classes is not None:
        replace_classifier(model, options.num_classes)
    if options.model_checkpoint_path is not None:
        load_checkpoint(model, options.model_checkpoint_path)
    classes = class_count(model)
    if classes == 0:
        raise UsageError("model: it has no classifier; give it one with `replace_classifier: true` and num_classes")
    if options.num_classes not in (None, classes):
        raise UsageError(
            f"model.num_classes is {options.num_classes}, and the model tells {classes} apart: "
            "add `replace_classifier: true`, or leave num_classes out"
        )
    return model


def _from_timm(options: ClassifierOptions, name: str) -> Any:
    timm = library("timm", "vision")
    arguments: dict[str, Any] = {}
    if options.weights is not None:
        arguments = {"pretrained": True, "pretrained_cfg_overlay": {"file": str(timm_weights(name, options.weights))}}
    elif not options.replace_classifier and options.num_classes is not None:
        arguments = {"num_classes": options.num_classes}
    with quiet():
        return timm.create_model(name, **arguments)


def _from_torchvision_or_own(options: ClassifierOptions) -> Any:
    nn = library("torch.nn", "vision")
    build = _find_builder(options.name) if options.name is not None else _component(str(options.component))
    arguments: dict[str, Any] = {}
    weights = None
    if options.weights is not None:
        weights = torchvision_weights(build, options.weights)
        arguments = {"num_classes": len(weights.meta["categories"])}
    elif not options.replace_classifier and options.num_classes is not None and _takes(build, "num_classes"):
        arguments = {"num_classes": options.num_classes}
    with quiet():
        try:
            model = build(**arguments)
        except TypeError as error:
            raise UsageError(f"model.component: {error}") from None
    if not isinstance(model, nn.Module):
        raise UsageError(
            f"model.component: {options.component} makes {type(model).__name__}, which is no torch.nn.Module"
        )
    if weights is not None:
        _load_published(model, weights)
    return model


def _load_published(model: Any, weights: Any) -> None:
    torch = library("torch", "vision")
    file = torch_cache(weights.url)
    try:
        model.load_state_dict(torch.load(file, map_location="cpu", weights_only=True))
    except (RuntimeError, OSError, EOFError, KeyError, ValueError, pickle.UnpicklingError) as error:
        why = str(error).strip().partition("\n")[0]
        raise DataError(f"model.weights: {file} is not what {weights} should be: {why}") from None
    if hasattr(model, "transform_input"):
        # GoogLeNet and Inception were trained on differently scaled pixels; their builders see to it like this.
        model.transform_input = True


def _find_builder(name: str) -> Callable[..., Any]:
    models = library("torchvision.models", "vision")
    known = models.list_models(module=models)
    if name not in known:
        raise UsageError(f"model.name: {unknown('model', name, known)}; of timm: timm/NAME")
    build: Callable[..., Any] = models.get_model_builder(name)
    return build


def _component(path: str) -> Callable[..., Any]:
    try:
        build = component(path, "vision")
    except ValueError as error:
        raise UsageError(f"model.component: {error}") from None
    if not callable(build):
        raise UsageError(f"model.component: {path} is neither a class nor a function")
    return build  # type: ignore[no-any-return]


def _takes(build: Callable[..., Any], parameter: str) -> bool:
    parameters = inspect.signature(build).parameters.values()
    return any(p.name == parameter or p.kind is p.VAR_KEYWORD for p in parameters)
