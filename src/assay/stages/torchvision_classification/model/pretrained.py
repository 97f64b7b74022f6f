"""Weights that a library publishes, taken from where it keeps those it has downloaded; nothing is downloaded here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.errors import DataError, UsageError
from assay.names import load, unknown
from assay.stages.pytorch.libraries import library

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
