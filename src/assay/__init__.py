"""Assay: one benchmarking system for machine-learning pipelines.

For the author of a benchmark:

    with assay.benchmark() as b:
        rows = curate(b.param("input", "data/"))
        b.metric("rows_per_s", rows / b.elapsed, unit="1/s", better="higher")
"""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from assay.record.benchmark import Benchmark, benchmark
    from assay.record.task import Task
    from assay.record.task_statistics import TaskPerfUtils

__version__ = "0.1.0"
__all__ = ["Benchmark", "Task", "TaskPerfUtils", "__version__", "benchmark"]

_PUBLIC = {
    "Benchmark": "assay.record.benchmark",
    "benchmark": "assay.record.benchmark",
    "Task": "assay.record.task",
    "TaskPerfUtils": "assay.record.task_statistics",
}


def __getattr__(name: str) -> object:
    """Loaded when asked for: `assay --help` and programs that need none of it start faster."""
    if name in _PUBLIC:
        from importlib import import_module

        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'assay' has no attribute {name!r}")
