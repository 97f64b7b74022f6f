"""Batches one after the other, made in advance by worker processes where there are any.

The processes are those of torch's DataLoader: forked, so that preloaded images are shared; results come back in
shared memory; and they look every few seconds whether their parent still lives, so none outlasts a killed one. One
endless series over all epochs feeds them, so that they never run dry between two.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.errors import DataError, UsageError
from assay.pipeline.stage import Stage, Worker
from assay.stages.pytorch.device import library, quiet
from assay.stages.torchvision_classification.classification import ImageBatch
from assay.stages.torchvision_classification.data_sets import ImageSplit, open_splits, read_data_set_options
from assay.stages.torchvision_classification.preprocessing import preprocessing

Position = tuple[int, int]
"""The epoch, and the number of the batch in it."""


class ImageBatches:
    """The batches of all epochs, each a function of its position alone: whoever makes it makes the same.

    An epoch is the batches of the splits that train, then those of the others. Images that train are in another order
    in each epoch. All batches have the same size: what is left over at a split's end is not used in that epoch.
    """

    def __init__(
        self,
        splits: Sequence[ImageSplit],
        batch_size: int,
        seed: int,
        preprocess: Callable[[tuple[Any, ...]], Any] | None,
    ) -> None:
        self._splits = splits
        self._batch_size = batch_size
        self._seed = seed
        self._preprocess = preprocess
        self._order: tuple[int, dict[str, Any]] = (-1, {})
        for split in splits:
            if len(split) < batch_size:
                raise UsageError(
                    f"batch_size is {batch_size}, and the split {split.name!r} has {len(split)} images: "
                    "not one full batch. Make batch_size smaller or the data set larger"
                )

    def __len__(self) -> int:
        """Batches of one epoch."""
        return sum(len(split) // self._batch_size for split in self._splits)

    def __getitem__(self, position: Position) -> ImageBatch:
        import torch

        epoch, n = position
        for split in self._splits:
            if n < len(split) // self._batch_size:
                break
            n -= len(split) // self._batch_size
        chosen = self._draw_order(split, epoch)[n * self._batch_size : (n + 1) * self._batch_size]
        images, labels = zip(*(split.image(index) for index in chosen.tolist()), strict=True)
        made = images if self._preprocess is None else self._preprocess(images)
        return ImageBatch(made, torch.tensor(labels), split.name, epoch, split.classes)

    def _draw_order(self, split: ImageSplit, epoch: int) -> Any:
        if not split.trains:
            return split.indices
        if self._order[0] != epoch:
            self._order = (epoch, {})
        if split.name not in self._order[1]:
            self._order[1][split.name] = np.random.default_rng([self._seed, epoch]).permutation(split.indices)
        return self._order[1][split.name]


AHEAD = 2
"""Batches that each worker makes in advance."""


class BatchStream:
    def __init__(self, batches: ImageBatches, workers: int) -> None:
        if workers and multiprocessing.current_process().daemon:
            raise UsageError(
                "num_workers: a stage with `run: process` cannot have processes of its own: "
                "use `num_workers: 0` there, or `run: inline` or `run: thread`"
            )
        self._batches = batches
        self._workers = workers
        self._positions = _Positions(len(batches))
        self._loader: Any = None
        self._made: Iterator[ImageBatch | _Failure] | None = None
        self._next: Position | None = None

    def start(self, position: Position) -> None:
        """Workers begin to make what comes from there on."""
        self._next = position
        if not self._workers:
            return
        self._positions.start = position
        if self._loader is None:
            self._loader = library("torch.utils.data", "vision").DataLoader(
                _Guarded(self._batches),
                batch_size=None,
                sampler=self._positions,
                num_workers=self._workers,
                prefetch_factor=AHEAD,
                persistent_workers=True,
                collate_fn=_as_it_is,
            )
        with quiet():
            # DataLoader warns of more workers than cores; how many is what its user wants to measure.
            self._made = iter(self._loader)

    def get(self, position: Position) -> ImageBatch:
        if position != self._next:
            self.start(position)
        self._next = self._positions.after(position)
        if self._made is None:
            return self._batches[position]
        made = next(self._made)
        if isinstance(made, _Failure):
            raise DataError(made.message)
        return made

    def close(self) -> None:
        self._made = self._loader = self._next = None


class _Positions:
    """All positions from `start` on, without an end."""

    def __init__(self, batches: int) -> None:
        self._batches = batches
        self.start: Position = (0, 0)

    def after(self, position: Position) -> Position:
        epoch, n = position
        return (epoch, n + 1) if n + 1 < self._batches else (epoch + 1, 0)

    def __iter__(self) -> Iterator[Position]:
        position = self.start
        while True:
            yield position
            position = self.after(position)


@dataclass(frozen=True)
class _Failure:
    message: str


class _Guarded:
    """A function whose errors in a worker come back as words: torch would send its traceback."""

    def __init__(self, batches: ImageBatches) -> None:
        self._batches = batches

    def __getitem__(self, position: Position) -> ImageBatch | _Failure:
        try:
            return self._batches[position]
        except Exception as error:  # noqa: BLE001  (raised again where the batch is asked for)
            return _Failure(str(error) if isinstance(error, DataError) else f"{type(error).__name__}: {error}")


def _as_it_is(batch: Any) -> Any:
    return batch


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
