from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from time import perf_counter
from typing import Any, Literal

from assay.errors import UsageError
from assay.pipeline.stage import Stage, Worker
from assay.record.metric import Metric
from assay.stages.pytorch.components import ComponentOptions, OptimizerOptions
from assay.stages.pytorch.device import Device, choose_device, library
from assay.stages.torchvision_classification.classifier import Classifier, Scope, read_classifier_options
from assay.stages.torchvision_classification.data_sets import is_for_training


@dataclass(frozen=True)
class ImageBatch:
    images: Any
    """Before preprocessing a tuple of uint8 tensors (3, height, width), of any sizes; after it one float tensor
    (images, 3, height, width)."""
    labels: Any
    """An int64 tensor, one number of a class for each image."""
    split: str = ""
    epoch: int = 0
    classes: int | None = None
    """How many the data set tells apart, where it says."""

    @property
    def preprocessed(self) -> bool:
        return not isinstance(self.images, tuple)


@dataclass(frozen=True)
class ClassifiedBatch:
    """What a model made of an `ImageBatch`, in its order."""

    predictions: tuple[int, ...]
    labels: tuple[int, ...]
    split: str = ""
    loss: float | None = None
    """Before the step that it led to; None where nothing was trained."""


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


_ADAM = {"component": "torch.optim.Adam", "lr": 0.001}
_CROSS_ENTROPY = {"component": "torch.nn.CrossEntropyLoss"}


class TorchVisionClassification(Stage[ImageBatch, ClassifiedBatch]):
    """Trains on batches of a train split, and infers on all others.

    `train: classifier` changes its last layer only, `train: all` the whole model. Left out, it is the classifier where
    that was replaced, else all. The load's `is_training: false` makes every batch one of inference.
    """

    name = "classification"
    stateful = True

    def __init__(
        self,
        model: Mapping[str, Any] | None = None,
        optimizer: Mapping[str, Any] | None = None,
        criterion: Mapping[str, Any] | None = None,
        device: str | None = None,
        train: Literal["all", "classifier"] | None = None,
        seed: int = 0,
    ) -> None:
        self.model = read_classifier_options(model)
        self.optimizer = OptimizerOptions.read("optimizer", optimizer or _ADAM)
        self.criterion = ComponentOptions.read("criterion", criterion or _CROSS_ENTROPY)
        if train not in (None, "all", "classifier"):
            raise ValueError(f"train must be all or classifier, not {train!r}")
        self.train: Scope = train or ("classifier" if self.model.replace_classifier else "all")
        self.device = device
        self.seed = seed
        self._training: bool | None = None
        self._classifier: Classifier | None = None
        self._device: Device | None = None
        self._figures = ClassificationFigures()
        self._data_classes: int | None = None

    def setup(self, worker: Worker) -> None:
        library("torchvision", "vision")
        self._training = worker.training
        try:
            self._device = choose_device(self.device, worker.device)
        except ValueError as error:
            raise UsageError(str(error)) from None
        self._classifier = Classifier.build(
            self.model, self.optimizer, self.criterion, self.train, self._device.torch, self.seed
        )
        self._figures = ClassificationFigures()
        self._data_classes = None

    def process(self, data: ImageBatch) -> ClassifiedBatch:
        assert self._classifier is not None
        assert self._device is not None
        self._check(data, self._classifier)
        training = self._training is not False and is_for_training(data.split)
        begin = perf_counter()
        predictions, loss = (self._classifier.step if training else self._classifier.infer)(data.images, data.labels)
        self._device.synchronise()
        seconds = perf_counter() - begin
        done = ClassifiedBatch(tuple(predictions.tolist()), tuple(data.labels.tolist()), data.split, loss)
        self._figures.add(done, data.epoch, seconds)
        return done

    def _check(self, batch: ImageBatch, classifier: Classifier) -> None:
        if not batch.preprocessed:
            raise UsageError(
                "the images are not preprocessed: give the loader `preprocess: true`, or put "
                "TorchVisionPreprocessFromWeights between it and this stage"
            )
        if batch.classes is not None and batch.classes > classifier.classes:
            raise UsageError(
                f"the data has {batch.classes} classes and the model tells {classifier.classes} apart: "
                f"set model.num_classes to {batch.classes}"
            )
        self._data_classes = batch.classes

    def start_measuring(self) -> None:
        self._figures = ClassificationFigures()

    def measured(self) -> Sequence[Metric]:
        return self._figures.metrics()

    def notes(self) -> Sequence[str]:
        said = [self._device.note] if self._device is not None and self._device.note else []
        if self._classifier is not None:
            said += self._classifier.notes()
            if self._data_classes is not None and self._data_classes < self._classifier.classes:
                said.append(
                    f"the model tells {self._classifier.classes} classes apart and the data has {self._data_classes}: "
                    "accuracy is right only if the first of the model's are the data's, in its order"
                )
        return said

    def teardown(self) -> None:
        self._classifier = None
