from argparse import Namespace
from collections.abc import Iterator

import pytest

from assay.benchmarks.benchmark_program import TimedRun
from assay.pipeline import Pipeline
from assay.pipeline.source import Source, Split


class CountedSource(Source):
    name = "counted"

    def __init__(self) -> None:
        self.asked = 0

    def splits(self) -> list[Split]:
        self.asked += 1
        return []

    def read(self, split: Split) -> Iterator[int]:
        yield from ()


def test_a_source_is_cut_once_and_its_time_is_part_of_the_whole() -> None:
    """It was cut twice, and both times counted."""
    source, run = CountedSource(), TimedRun()
    run.add(Pipeline(source, []), Namespace(executor="local", workers=None))
    partitioned = [task for task in run.tasks if task.stage == "file_partitioning"]
    assert source.asked == 1
    assert len(partitioned) == 1
    assert 0 <= partitioned[0].metrics["process_time"] <= run.seconds


@pytest.mark.parametrize("times", [1, 2])
def test_each_pipeline_of_a_benchmark_is_cut_by_itself(times: int) -> None:
    source, run = CountedSource(), TimedRun()
    for _ in range(times):
        run.add(Pipeline(source, []), Namespace(executor="local", workers=None))
    assert source.asked == times
