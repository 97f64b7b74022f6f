from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from assay.loadgen import Graph, LoadGen, SingleStreamLoadScheduler, SourceSamples, Stop
from assay.names import UnknownComponent
from assay.pipeline.source import ColumnBatch, Source, Split
from assay.pipeline.stage import Stage

sys.path.insert(0, str(Path(__file__).parent))


class Numbers(Source):
    def __init__(self, count: int) -> None:
        self.count = count

    def splits(self) -> Sequence[Split]:
        return [Split(0), Split(1)]

    def read(self, split: Split) -> Iterator[ColumnBatch]:
        yield ColumnBatch({"n": list(range(split.index * self.count, (split.index + 1) * self.count))})


class Total(Stage[ColumnBatch, int]):
    def process(self, data: ColumnBatch) -> int:
        return sum(data["n"])


def test_a_source_is_the_data_set_of_a_curation_pipeline() -> None:
    samples = SourceSamples("test_source_samples.Numbers", {"count": 5}, rows=2)
    kept: dict[int, int] = {}
    graph = Graph.chain([samples, Total()], dataset=True)
    LoadGen(graph, SingleStreamLoadScheduler(), Stop(max_queries=7), keep=kept.__setitem__).run()
    assert len(samples) == 6
    assert list(kept.values()) == [0 + 1, 2 + 3, 4, 5 + 6, 7 + 8, 9, 0 + 1]


def test_a_source_that_is_not_there_is_named() -> None:
    with pytest.raises(UnknownComponent, match="unknown source"):
        SourceSamples("nowhere.Source")
