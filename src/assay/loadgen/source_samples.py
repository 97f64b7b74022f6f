from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.errors import DataError
from assay.names import Registry
from assay.pipeline.batch import Batch
from assay.pipeline.resources import Worker
from assay.pipeline.source import Source
from assay.pipeline.stage import Stage

SOURCES: Registry[Source] = Registry("source", Source)  # type: ignore[type-abstract]


class SourceSamples(Stage[int, Batch]):
    """Puts a curation pipeline under load: its source, read at set-up, is the data set.

    A query carries `rows` rows, as a batch the pipeline's stages take. `most` bounds how many samples are held.
    """

    name = "samples"

    def __init__(self, source: str, config: Mapping[str, Any] | None = None, rows: int = 1, most: int = 1000) -> None:
        if rows < 1 or most < 1:
            raise ValueError("rows and most must be at least 1")
        self.source = source
        self.config = dict(config or {})
        self.rows = rows
        self.most = most
        self._samples: list[Batch] = []
        # Found and built here so that a wrong name or argument is seen when the configuration is read; neither reads.
        self._source = SOURCES.find(source)(**self.config)

    def setup(self, worker: Worker) -> None:
        self._samples = []
        for split in self._source.splits():
            for batch in self._source.read(split):
                if not isinstance(batch, Batch):
                    raise DataError(f"{self.source} reads {type(batch).__name__}, which is not a batch of rows")
                for first in range(0, len(batch), self.rows):
                    self._samples.append(batch.slice(first, min(first + self.rows, len(batch))))
                    if len(self._samples) == self.most:
                        return

    def __len__(self) -> int:
        return len(self._samples)

    def process(self, data: int) -> Batch:
        return self._samples[data]
