from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from assay.errors import DataError, UsageError
from assay.names import quote
from assay.pipeline.stage import Stage, Worker
from assay.stages.pytorch.device import library
from assay.stages.torchvision_classification.classification import ImageBatch
from assay.stages.torchvision_classification.model_source import TIMM, timm_name

Preprocessing = Callable[[tuple[Any, ...]], Any]
"""Makes one float tensor (images, 3, height, width) of uint8 images (3, height, width)."""


def preprocessing(weights: str | None, resize: int | None) -> Preprocessing:
    """The preprocessing that the model with these weights was trained with; the weights themselves are not needed for
    it. Without weights: pixels from -1 to 1, in the size that the images have."""
    if weights is None:
        return _together(_plain(resize))
    if weights.startswith(TIMM):
        return _together(_timm(weights, resize))
    return _together(_torchvision(weights, resize))


def _together(transform: Callable[[Any], Any]) -> Preprocessing:
    torch = library("torch", "vision")

    def run(images: tuple[Any, ...]) -> Any:
        if len({image.shape for image in images}) == 1:
            return transform(torch.stack(images))
        made = [transform(image) for image in images]
        if len({image.shape for image in made}) > 1:
            raise DataError("the images have different sizes: set `resize`, or `weights` that say a size")
        return torch.stack(made)

    return run


def _plain(resize: int | None) -> Callable[[Any], Any]:
    torch = library("torch", "vision")
    functional = library("torchvision.transforms.functional", "vision")

    def run(image: Any) -> Any:
        if resize is not None:
            image = functional.center_crop(functional.resize(image, [resize], antialias=True), [resize])
        return functional.convert_image_dtype(image, torch.float32) * 2 - 1

    return run


def _torchvision(name: str, resize: int | None) -> Callable[[Any], Any]:
    models = library("torchvision.models", "vision")
    try:
        preset = models.get_weight(name).transforms
    except (KeyError, ValueError):
        raise UsageError(
            f"weights: torchvision has no {quote(name)}; they are written like ResNet18_Weights.IMAGENET1K_V1"
        ) from None
    if resize is None:
        return preset()  # type: ignore[no-any-return]
    crop = preset.keywords.get("crop_size")
    if crop is None:
        raise UsageError(f"resize: {quote(name)} are not the weights of a classifier, so they cannot be resized for")
    # The margin that is cropped away keeps its share of the image.
    around = round(preset.keywords.get("resize_size", 256) / crop * resize)
    return preset(crop_size=resize, resize_size=around)  # type: ignore[no-any-return]


def _timm(name: str, resize: int | None) -> Callable[[Any], Any]:
    torch = library("torch", "vision")
    functional = library("torchvision.transforms.functional", "vision")
    timm, data = library("timm", "vision"), library("timm.data", "vision")
    given = timm.get_pretrained_cfg(timm_name(name, "weights")).to_dict()
    config = data.resolve_data_config(pretrained_cfg=given)
    if resize is not None:
        config["input_size"] = (3, resize, resize)
    transform = data.create_transform(**config)
    return lambda image: transform(functional.convert_image_dtype(image, torch.float32))


class TorchVisionPreprocessFromWeights(Stage[ImageBatch, ImageBatch]):
    """Prepares images for a model as its weights say (`EfficientNet_V2_S_Weights.IMAGENET1K_V1`, `timm/NAME`).

    `resize` makes smaller or larger images than the weights ask for: side in pixels.
    """

    name = "preprocess"

    def __init__(self, weights: str, resize: int | None = None) -> None:
        if not isinstance(weights, str):
            raise ValueError(f"weights must be a name such as ResNet18_Weights.IMAGENET1K_V1, not {weights!r}")
        if resize is not None and (isinstance(resize, bool) or not isinstance(resize, int) or resize < 1):
            raise ValueError(f"resize must be a side in pixels, not {resize!r}")
        self.weights = weights
        self.resize = resize
        self._preprocess: Preprocessing | None = None

    def setup(self, worker: Worker) -> None:
        library("torchvision", "vision")
        self._preprocess = preprocessing(self.weights, self.resize)

    def process(self, data: ImageBatch) -> ImageBatch:
        assert self._preprocess is not None
        if data.preprocessed:
            raise UsageError(
                "the images that came are preprocessed already: give the loader `preprocess: false`, "
                "or leave this stage out"
            )
        return replace(data, images=self._preprocess(data.images))
