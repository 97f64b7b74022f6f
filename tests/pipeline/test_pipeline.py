from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.pipeline.toy_stages import Even, FailOn, Numbers, Square, Sum, TextWriter, Twice

from assay.errors import DataError, UsageError
from assay.pipeline import (
    ColumnBatch,
    CompositeStage,
    Pipeline,
    PipelineError,
    Stage,
    StageFailure,
    Worker,
    executor_named,
)
from assay.pipeline.executors.executor import EXECUTORS, LocalExecutor

WORKERS = [1, 2, 3]


@pytest.mark.parametrize("workers", WORKERS)
def test_results_come_in_split_order(workers: int) -> None:
    result = Pipeline(Numbers(), [Square(), Sum("square")]).run(LocalExecutor(workers))
    assert result.outputs == [sum(n * n for n in range(s * 10, s * 10 + 10)) for s in range(7)]


@pytest.mark.parametrize("workers", WORKERS)
def test_without_a_collector_every_batch_comes_back_in_order(workers: int) -> None:
    result = Pipeline(Numbers(), [Even()]).run(LocalExecutor(workers))
    assert [n for batch in result.outputs for n in batch["n"]] == list(range(0, 70, 2))


def test_every_stage_is_timed_once_per_split_with_its_rows() -> None:
    result = Pipeline(Numbers(splits=3), [Twice(), Even(), Sum()]).run(LocalExecutor(2))
    by_stage: dict[str, list[Any]] = {}
    for task in result.tasks:
        by_stage.setdefault(task.stage, []).append(task.metrics)
    assert list(by_stage) == ["numbers", "twice", "even", "sum"]
    assert [len(calls) for calls in by_stage.values()] == [3, 3, 3, 3]
    assert by_stage["numbers"][0]["rows_out"] == 10
    assert by_stage["twice"][0]["rows_out"] == 20
    assert by_stage["even"][0] | {"process_time": 0, "cpu_time": 0} == {
        "process_time": 0,
        "cpu_time": 0,
        "calls": 6,
        "rows_in": 20,
        "rows_out": 10,
    }
    assert len({task.invocation for task in result.tasks}) == len(result.tasks)


def test_a_stage_is_not_charged_for_the_time_of_the_one_before_it() -> None:
    import time

    class Slow(Stage[ColumnBatch, ColumnBatch]):
        name = "slow"

        def process(self, data: ColumnBatch) -> ColumnBatch:
            time.sleep(0.02)
            return data

    tasks = Pipeline(Numbers(splits=1), [Slow(), Even()]).run().tasks
    times = {task.stage: task.metrics["process_time"] for task in tasks}
    assert times["slow"] >= 0.06
    assert times["even"] < times["slow"] / 2


@pytest.mark.parametrize("size", [1, 3, 4, 100])
def test_batch_size_is_what_a_stage_is_called_with(size: int) -> None:
    seen: list[int] = []

    class Watch(Stage[ColumnBatch, ColumnBatch]):
        name = "watch"
        batch_size = size

        def process(self, data: ColumnBatch) -> ColumnBatch:
            seen.append(len(data))
            return data

    result = Pipeline(Numbers(splits=2), [Watch()]).run()
    assert [n for batch in result.outputs for n in batch["n"]] == list(range(20))
    full, rest = divmod(10, size)
    assert seen == 2 * ([size] * full + [rest] * (rest > 0))


@pytest.mark.parametrize("workers", WORKERS)
def test_parts_are_named_by_their_split_and_whole(workers: int, tmp_path: Path) -> None:
    parts = Pipeline(Numbers(splits=3), [Even(), TextWriter(tmp_path, ".txt")]).run(LocalExecutor(workers)).outputs
    assert [Path(part.path).name for part in parts] == ["part-00000.txt", "part-00001.txt", "part-00002.txt"]
    assert [part.rows for part in parts] == [5, 5, 5]
    assert sorted(path.name for path in tmp_path.iterdir()) == [Path(part.path).name for part in parts]
    assert "".join(Path(part.path).read_text() for part in parts) == "".join(f"{n}\n" for n in range(0, 30, 2))
    assert [part.size for part in parts] == [Path(part.path).stat().st_size for part in parts]


@pytest.mark.parametrize("workers", WORKERS)
def test_a_failed_split_leaves_no_part_behind(workers: int, tmp_path: Path) -> None:
    with pytest.raises(
        StageFailure, match=r"stage fail_on failed on numbers-2\.txt: ZeroDivisionError: no such number"
    ):
        Pipeline(Numbers(splits=3), [FailOn(25, "raise"), TextWriter(tmp_path, ".txt")]).run(LocalExecutor(workers))
    assert not list(tmp_path.glob("*00002*"))
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("workers", WORKERS)
def test_an_error_of_the_data_keeps_its_own_message(workers: int) -> None:
    with pytest.raises(DataError, match=r"^numbers\.txt:3: n: is odd$"):
        Pipeline(Numbers(), [FailOn(33, "data"), Sum()]).run(LocalExecutor(workers))


def test_a_worker_that_dies_is_reported() -> None:
    with pytest.raises(PipelineError, match="a worker process died"):
        Pipeline(Numbers(), [FailOn(33, "die"), Sum()]).run(LocalExecutor(2))


def test_a_composite_is_replaced_by_what_it_holds() -> None:
    class Both(CompositeStage[ColumnBatch, ColumnBatch]):
        name = "both"

        def expand(self) -> list[Stage[Any, Any]]:
            return [Square(), Even()]

    pipeline = Pipeline(Numbers(), [Both(), Sum("square")], name="toy")
    assert [stage.name for stage in pipeline.stages] == ["square", "even", "sum"]
    assert pipeline.describe() == (
        "toy:\n"
        "  1 numbers  Numbers\n"
        "  2 square   Square   1 cpu; adds square\n"
        "  3 even     Even     1 cpu\n"
        "  4 sum      Sum      1 cpu"
    )


def test_a_stateful_stage_sees_everything_in_order_whatever_the_workers() -> None:
    class Running(Stage[ColumnBatch, ColumnBatch]):
        name = "running"
        stateful = True

        def setup(self, worker: Worker) -> None:
            self.total = 0

        def process(self, data: ColumnBatch) -> ColumnBatch:
            self.total += sum(data["n"])
            return ColumnBatch({"total": [self.total]})

    result = Pipeline(Numbers(), [Running()]).run(LocalExecutor(3))
    assert result.outputs[-1]["total"] == [sum(range(70))]


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([Square(), Square()], "two stages named square"),
        ([Sum(), Even()], "sum collects a whole split, so it must be the last"),
    ],
)
def test_stages_that_do_not_fit_are_refused_when_built(stages: list[Any], message: str) -> None:
    with pytest.raises(PipelineError, match=message):
        Pipeline(Numbers(), stages)


def test_a_missing_column_is_named() -> None:
    class Needy(Square):
        needs = frozenset({"cube"})

    with pytest.raises(PipelineError, match="stage square needs cube, which nothing before it in pipeline adds"):
        Pipeline(Numbers(), [Needy()])


class Backwards(LocalExecutor):
    name = "backwards"


def test_an_executor_of_ones_own_is_registered_or_named_by_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EXECUTORS, "_paths", {"local": "assay.pipeline.executors.executor:LocalExecutor"})
    EXECUTORS["backwards"] = f"{__name__}:Backwards"
    assert isinstance(executor_named("backwards", workers=1), Backwards)
    assert isinstance(executor_named(f"{__name__}.Backwards"), Backwards)
    with pytest.raises(UsageError, match=r"'pathlib\.Path' is no executor: it does not inherit from Executor"):
        executor_named("pathlib.Path")


def test_an_unknown_executor_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"unknown executor 'ray-data'; did you mean 'ray_data'\?"):
        executor_named("ray-data")


def test_columns_of_a_batch_have_one_length() -> None:
    with pytest.raises(ValueError, match="differ in length"):
        ColumnBatch({"a": [1], "b": [1, 2]})
