from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from assay.record.metric import Metric
from assay.stages.torchvision_classification.image_batch import ClassifiedBatch


class ClassificationFigures:
    """Loss and time of training, time of inference, and the share of images told right in each split."""

    def __init__(self) -> None:
        self._losses: list[float] = []
        self._step_s: list[float] = []
        self._trained = 0
        self._inference_s: list[float] = []
        self._inferred = 0
        self._right: dict[str, dict[int, tuple[int, int]]] = {}
        """Images told right, and all images, by split and epoch."""

    def add(self, batch: ClassifiedBatch, epoch: int, seconds: float) -> None:
        """`seconds` of the model alone, the device waited for."""
        if batch.loss is None:
            self._inference_s.append(seconds)
            self._inferred += len(batch.labels)
        else:
            self._losses.append(batch.loss)
            self._step_s.append(seconds)
            self._trained += len(batch.labels)
        right = sum(map(int.__eq__, batch.predictions, batch.labels))
        epochs = self._right.setdefault(batch.split, {})
        before = epochs.get(epoch, (0, 0))
        epochs[epoch] = (before[0] + right, before[1] + len(batch.labels))

    def metrics(self) -> Sequence[Metric]:
        return [*self._of_training(), *self._of_inference(), *self._accuracies()]

    def _of_training(self) -> list[Metric]:
        if not self._losses:
            return []
        times = tuple(self._step_s)
        return [
            Metric("loss", self._losses[-1], better="lower", samples=tuple(self._losses)),
            Metric("loss_first", self._losses[0]),
            Metric("optimizer_steps", len(self._losses), unit="1"),
            Metric("step_s", fmean(times), unit="s", better="lower", samples=times),
            Metric("trained_images_per_s", self._trained / sum(times), unit="1/s", better="higher"),
        ]

    def _of_inference(self) -> list[Metric]:
        if not self._inference_s:
            return []
        times = tuple(self._inference_s)
        return [
            Metric("inference_s", fmean(times), unit="s", better="lower", samples=times),
            Metric("inferred_images_per_s", self._inferred / sum(times), unit="1/s", better="higher"),
        ]

    def _accuracies(self) -> list[Metric]:
        """The value is that of the last epoch, the samples are those of all."""
        found = []
        for split, epochs in self._right.items():
            shares = tuple(right / images for right, images in epochs.values())
            name = f"{split}_accuracy" if split else "accuracy"
            found.append(Metric(name, shares[-1], unit="share", better="higher", samples=shares))
        return found
