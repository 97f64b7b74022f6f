"""Weights that a library publishes, taken from where it keeps those it has downloaded; nothing is downloaded here."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import DataError, UsageError
from assay.names import load, unknown
from assay.stages.pytorch.components import component
from assay.stages.pytorch.device import library, quiet

if TYPE_CHECKING:
    from assay.stages.torchvision_classification.classifier import ClassifierOptions


TIMM = "timm/"
"""What a name begins with where timm is meant."""


def timm_name(written: str, key: str) -> str:
    """The name that timm knows: an architecture, or one with the name of its weights behind a point.

    `key` is where the configuration has it.
    """
    timm = library("timm", "vision")
    name = written.removeprefix(TIMM)
    architecture, _, tag = name.partition(".")
    if not timm.is_model(architecture):
        known = [f"{TIMM}{model}" for model in timm.list_models()]
        raise UsageError(f"{key}: {unknown('model', written, known)}")
    weights = [full.partition(".")[2] for full in timm.list_pretrained(f"{architecture}.*")]
    if tag and tag not in weights:
        raise UsageError(f"{key}: {unknown('weights', tag, weights, of=TIMM + architecture)}")
    return name


DEFAULT = "DEFAULT"


def torchvision_weights(build: Any, written: str) -> Any:
    """The member of the model's enumeration of weights, its file there to be loaded."""
    models = library("torchvision.models", "vision")
    try:
        known = models.get_model_weights(build)
    except ValueError:
        raise UsageError(f"model.weights: {build.__name__} has none; give model_checkpoint_path") from None
    kind, _, name = written.rpartition(".")
    if (kind and kind != known.__name__) or name not in known.__members__:
        names = [f"{known.__name__}.{member}" if kind else member for member in known.__members__]
        raise UsageError(f"model.weights: {unknown('weights', written, names)}")
    weights = known[name]
    file = torch_cache(weights.url)
    if not file.is_file():
        raise _absent(str(weights), f"download {weights.url} to {file}")
    return weights


def timm_weights(name: str, written: str) -> Path:
    """The file of the weights that a name of timm's stands for."""
    config = library("timm", "vision").get_pretrained_cfg(name)
    full = f"{config.architecture}.{config.tag}"
    if written not in (DEFAULT, config.tag, full, f"timm/{full}"):
        known = [DEFAULT, *library("timm", "vision").list_pretrained(f"{config.architecture}.*")]
        raise UsageError(
            f"model.weights: {unknown('weights', written, known)}; the model's name says which: timm/{full}"
        )
    if not config.has_weights:
        raise UsageError(f"model.weights: timm publishes none for {full}; give model_checkpoint_path")
    if config.hf_hub_id:
        # timm comes with huggingface_hub, and keeps its weights where that does.
        cached = load("huggingface_hub.try_to_load_from_cache")
        for file in filter(None, (config.hf_hub_filename, "model.safetensors", "pytorch_model.bin")):
            if isinstance(found := cached(config.hf_hub_id, file), str):
                return Path(found)
    if config.url and (old := torch_cache(config.url)).is_file():
        return old
    how = (
        f"hf download {config.hf_hub_id}" if config.hf_hub_id else f"download {config.url} to {torch_cache(config.url)}"
    )
    raise _absent(f"timm/{full}", how)


def torch_cache(url: str) -> Path:
    """Where torch keeps what it has downloaded from there."""
    return Path(library("torch.hub", "vision").get_dir()) / "checkpoints" / url.rpartition("/")[2]


def _absent(weights: str, how: str) -> DataError:
    return DataError(
        f"model.weights: {weights} are not on this machine. Where there is a network: {how}. Or leave weights out: "
        "the model then begins with random ones, which cost the same time"
    )


def load_checkpoint(model: Any, path: Path) -> None:
    """Weights from a file of torch's or of safetensors, which is read without running anything that is in it."""
    if not path.is_file():
        raise DataError(f"model_checkpoint_path: there is no file {path}")
    try:
        with quiet():
            found = library("timm.models", "vision").load_state_dict(str(path), use_ema=False, weights_only=True)
    except (RuntimeError, OSError, EOFError, KeyError, ValueError, AttributeError, pickle.UnpicklingError) as error:
        why = str(error).strip().partition("\n")[0]
        raise DataError(f"model_checkpoint_path: {path} is not a file of weights that can be read: {why}") from None
    if misfit := _misfit(model.state_dict(), found):
        raise DataError(f"model_checkpoint_path: {path} does not fit the model: {misfit}")
    model.load_state_dict(found)


def _misfit(have: dict[str, Any], found: dict[str, Any]) -> str:
    missing, unknown = have.keys() - found.keys(), found.keys() - have.keys()
    if missing or unknown:
        some = f"such as {sorted(missing or unknown)[0]}"
        return f"{len(missing)} tensors of the model are not in it and {len(unknown)} of it not in the model, {some}"
    for name, tensor in have.items():
        if tensor.shape != found[name].shape:
            return f"{name} is {list(found[name].shape)} there and {list(tensor.shape)} in the model"
    return ""


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
