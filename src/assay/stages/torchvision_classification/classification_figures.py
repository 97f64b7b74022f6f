from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from assay.record.metric import Metric
from assay.stages.pytorch.training_figures import TrainingFigures
from assay.stages.torchvision_classification.image_batch import ClassifiedBatch


class ClassificationFigures:
    """Loss and time of training, time of inference, and the share of images told right in each split."""

    def __init__(self) -> None:
        self._training = TrainingFigures("images")
        self._inference: list[float] = []
        self._inferred = 0
        self._right: dict[str, dict[int, tuple[int, int]]] = {}
        """By split and epoch: images told right, and all of them."""

    def add(self, batch: ClassifiedBatch, epoch: int, seconds: float) -> None:
        if batch.loss is None:
            self._inference.append(seconds)
            self._inferred += len(batch.labels)
        else:
            self._training.step(batch.loss, seconds, len(batch.labels))
        right = sum(map(int.__eq__, batch.predictions, batch.labels))
        epochs = self._right.setdefault(batch.split, {})
        before = epochs.get(epoch, (0, 0))
        epochs[epoch] = (before[0] + right, before[1] + len(batch.labels))

    def metrics(self) -> Sequence[Metric]:
        found = self._training.metrics()
        if self._inference:
            times, rate = tuple(self._inference), self._inferred / sum(self._inference)
            found.append(Metric("inference_s", fmean(times), unit="s", better="lower", samples=times))
            found.append(Metric("inferred_images_per_s", rate, unit="1/s", better="higher"))
        for split, epochs in self._right.items():
            shares = tuple(right / images for right, images in epochs.values())
            name = f"{split}_accuracy" if split else "accuracy"
            found.append(Metric(name, shares[-1], unit="share", better="higher", samples=shares))
        return found
