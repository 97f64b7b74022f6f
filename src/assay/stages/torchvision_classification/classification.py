from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any, Literal

from assay.errors import UsageError
from assay.pipeline.resources import Worker
from assay.pipeline.stage import Stage
from assay.record.metric import Metric
from assay.stages.pytorch.device import Device, choose_device
from assay.stages.pytorch.libraries import library
from assay.stages.pytorch.optimizer_options import OptimizerOptions
from assay.stages.pytorch.options import ComponentOptions
from assay.stages.torchvision_classification.classification_figures import ClassificationFigures
from assay.stages.torchvision_classification.data.image_split import is_for_training
from assay.stages.torchvision_classification.image_batch import ClassifiedBatch, ImageBatch
from assay.stages.torchvision_classification.model.classifier import Classifier, Scope
from assay.stages.torchvision_classification.model.classifier_options import read_classifier_options

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
