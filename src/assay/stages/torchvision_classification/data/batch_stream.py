"""Batches one after the other, made in advance by worker processes where there are any.

The processes are those of torch's DataLoader: forked, so that preloaded images are shared; results come back in
shared memory; and they look every few seconds whether their parent still lives, so none outlasts a killed one. One
endless series over all epochs feeds them, so that they never run dry between two.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from assay.errors import DataError, UsageError
from assay.stages.pytorch.libraries import library, quiet
from assay.stages.torchvision_classification.data.image_batches import ImageBatches, Position
from assay.stages.torchvision_classification.image_batch import ImageBatch

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
