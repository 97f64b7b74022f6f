from __future__ import annotations

from dataclasses import replace

from assay.errors import UsageError
from assay.pipeline.resources import Worker
from assay.pipeline.stage import Stage
from assay.stages.pytorch.libraries import library
from assay.stages.torchvision_classification.image_batch import ImageBatch
from assay.stages.torchvision_classification.preprocessing import Preprocessing, preprocessing


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
