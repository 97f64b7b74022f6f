"""Assay: one benchmarking system for machine-learning pipelines.

For the author of a benchmark:

    with assay.benchmark() as b:
        rows = curate(b.param("input", "data/"))
        b.metric("rows_per_s", rows / b.elapsed, unit="1/s", better="higher")

To run benchmarks and look at what they measured:

    assay.run("assay.yaml")
    assay.results().plot("rows_per_s")
    assay.compare("latest~1", "latest")
"""

from assay.exports import exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from assay.api.compare import compare
    from assay.api.running.run import run
    from assay.api.tables.records import Records
    from assay.api.tables.results import results
    from assay.record.benchmark import Benchmark, benchmark
    from assay.record.task import Task
    from assay.record.task_statistics import TaskPerfUtils

__version__ = "0.1.0"
__all__ = ["Benchmark", "Records", "Task", "TaskPerfUtils", "__version__", "benchmark", "compare", "results", "run"]

__getattr__, __dir__ = exports(
    __name__,
    {
        "Benchmark": "record.benchmark",
        "Records": "api.tables.records",
        "Task": "record.task",
        "TaskPerfUtils": "record.task_statistics",
        "benchmark": "record.benchmark",
        "compare": "api.compare",
        "results": "api.tables.results",
        "run": "api.running.run",
    },
)
