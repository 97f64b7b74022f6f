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
    from assay.api.results import Records, results
    from assay.api.run import run
    from assay.record.benchmark import Benchmark, benchmark
    from assay.record.task import Task, TaskPerfUtils

__version__ = "0.1.0"
__all__ = ["Benchmark", "Records", "Task", "TaskPerfUtils", "__version__", "benchmark", "compare", "results", "run"]

__getattr__, __dir__ = exports(
    __name__,
    {
        "Benchmark": "record.benchmark",
        "Records": "api.results",
        "Task": "record.task",
        "TaskPerfUtils": "record.task",
        "benchmark": "record.benchmark",
        "compare": "api.compare",
        "results": "api.results",
        "run": "api.run",
    },
)
