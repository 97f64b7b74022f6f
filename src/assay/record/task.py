from __future__ import annotations

import time
from types import TracebackType
from typing import ClassVar, Self

from assay.record.task_perf import TaskPerf
from assay.record.task_statistics import TaskPerfUtils


class Task:
    """A timed block: `with Task("load"): …`. Finished ones are kept until `get_all_tasks` is asked for them.

    Time is taken from a monotonic clock, so that a clock set back during the block does no harm.
    """

    _finished: ClassVar[list[TaskPerf]] = []

    def __init__(self, name: str, perf: TaskPerfUtils | None = None) -> None:
        self.name = name
        self.metrics: dict[str, float] = {}
        self.seconds = 0.0
        """How long the block took, once it has ended."""

    def __enter__(self) -> Self:
        self._cpu = time.process_time()
        self._start = time.perf_counter()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.seconds = process_time = time.perf_counter() - self._start
        cpu_time = time.process_time() - self._cpu
        measured = {"process_time": process_time, "cpu_time": cpu_time, **self.metrics}
        Task._finished.append(TaskPerf(self.name, measured))

    def record(self, name: str, value: float) -> None:
        """A number of the author's own, kept beside the block's time."""
        self.metrics[name] = float(value)

    @classmethod
    def get_all_tasks(cls) -> list[TaskPerf]:
        return list(cls._finished)
