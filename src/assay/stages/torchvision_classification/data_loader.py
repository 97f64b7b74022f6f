from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.errors import UsageError
from assay.pipeline.resources import Worker
from assay.pipeline.stage import Stage
from assay.stages.pytorch.libraries import library
from assay.stages.torchvision_classification.data.batch_stream import BatchStream
from assay.stages.torchvision_classification.data.data_set_options import read_data_set_options
from assay.stages.torchvision_classification.data.image_batches import ImageBatches
from assay.stages.torchvision_classification.data.open_splits import open_splits
from assay.stages.torchvision_classification.image_batch import ImageBatch
from assay.stages.torchvision_classification.preprocessing import preprocessing


class TorchVisionDataLoader(Stage[int, ImageBatch]):
    """The data set of a pipeline: query n gets batch n of an epoch, and where n begins again the next epoch begins.

    `preload` reads and decodes all images at set-up. `preprocess: false` leaves images as they were decoded, for a
    stage behind it. `num_workers` processes make batches in advance; with 0 a batch is made when it is asked for.
    """

    name = "images"
    stateful = True

    def __init__(
        self,
        batch_size: int = 16,
        preprocess: bool = True,
        preload: bool = False,
        num_workers: int = 0,
        dataset: Mapping[str, Any] | None = None,
        seed: int = 0,
    ) -> None:
        _whole("batch_size", batch_size, 1)
        _whole("num_workers", num_workers, 0)
        _whole("seed", seed, 0)
        self.images_a_batch = batch_size
        self.preprocess = preprocess
        self.preload = preload
        self.num_workers = num_workers
        self.seed = seed
        self.dataset = read_data_set_options(dataset)
        for key in ("weights", "resize"):
            if not preprocess and getattr(self.dataset, key) is not None:
                raise ValueError(f"dataset.{key} says how to preprocess, and preprocess is false: remove one of them")
        self._length = 0
        self._stream: BatchStream | None = None
        self._epoch, self._last = 0, -1
        self._measuring = False

    def setup(self, worker: Worker) -> None:
        library("torchvision", "vision")
        splits = open_splits(self.dataset)
        if worker.training and not any(split.trains for split in splits):
            raise UsageError("is_training is true, and dataset.split names none that trains: add train")
        if self.preload:
            splits = [split.preload() for split in splits]
        prepare = preprocessing(self.dataset.weights, self.dataset.resize) if self.preprocess else None
        batches = ImageBatches(splits, self.images_a_batch, self.seed, prepare)
        self.teardown()
        self._length = len(batches)
        self._stream = BatchStream(batches, self.num_workers)
        self._epoch, self._last, self._measuring = 0, -1, False

    def __len__(self) -> int:
        return self._length

    def process(self, data: int) -> ImageBatch:
        assert self._stream is not None
        if not self._measuring:
            # Warm-up numbers its queries from the end, where val is: what is to be measured first must be warm first.
            data = (self._last + 1) % self._length
        if data <= self._last:
            self._epoch += 1
        self._last = data
        return self._stream.get((self._epoch, data))

    def start_measuring(self) -> None:
        self._epoch, self._last, self._measuring = 0, -1, True
        if self._stream is not None:
            self._stream.start((0, 0))

    def __getstate__(self) -> dict[str, Any]:
        """What goes to a process of its own, which opens the data itself."""
        return {**self.__dict__, "_stream": None}

    def teardown(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None


def _whole(key: str, given: Any, least: int) -> None:
    if isinstance(given, bool) or not isinstance(given, int) or given < least:
        raise ValueError(f"{key} must be a whole number of at least {least}, not {given!r}")
