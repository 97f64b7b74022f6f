"""What others may import. A name that is added or taken away is a decision, so it is made here too."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

PUBLIC = {
    "assay": "Benchmark Records Task TaskPerfUtils __version__ benchmark compare results run",
    "assay.analysis": "BenchmarkAnalyzer Comparison HistoryPast Insight Judgement MetricRule NoPast Past Results Row "
    "Rules SeriesChange Verdict change_points compare extract judge recommendations summary_lines what_changed",
    "assay.benchmarks.weights": "BenchmarkOrchestrator BenchmarkProfile BenchmarkSuite",
    "assay.loadgen": "ConcurrentLoadScheduler ConstantLoadScheduler Control GammaLoadScheduler Graph LoadGen "
    "LoadResult LoadScheduler MultiStreamLoadScheduler Node Objective OfflineLoadScheduler PipelineState "
    "PoissonLoadScheduler Policy RampLoadScheduler SingleStreamLoadScheduler SourceSamples StepsLoadScheduler Stop "
    "TraceLoadScheduler Warmup",
    "assay.pipeline": "Batch Chain Collector ColumnBatch CompositeStage Executor FileRange Part Pipeline PipelineError "
    "PipelineResult Resources RunStage Source Split SplitResult Stage StageFailure StreamStage Worker Writer "
    "executor_named",
    "assay.record": "Environment Fingerprint Metric Outcome Record RequirementResult SessionFolder SessionInfo Task "
    "TaskPerf TaskPerfUtils Usage",
    "assay.sinks": "Delivery MetricsCollector Rejected Sink SinkStatus Unavailable check_spec",
    "assay.stats": "Interval LevelChange Outlier PowerLaw Repeats Shift TailEstimate Warmup bootstrap find_changes "
    "find_outliers find_warmup fit_power_law level_shift level_since paired_shift plan_repeats quantile_interval "
    "tail_estimate unpaired_shift",
    "assay.weights": "Commit Diff MergeConflict Repository RepositoryConfig SnapshotStore StoreStats Tensor "
    "Verification WeightStore clone pull push repository_limit tensor_limit verify",
}
HEAVY = "numpy scipy pandas pydantic yaml jinja2 pyarrow numba ray torch difflib"


@pytest.mark.parametrize("package", PUBLIC)
def test_the_public_names_are_these_and_each_is_there(package: str) -> None:
    module = import_module(package)
    names = PUBLIC[package].split()
    assert sorted(module.__all__) == names
    assert set(names) - {"__version__"} <= set(dir(module))
    for name in names:
        assert getattr(module, name) is not None


@pytest.mark.parametrize("package", PUBLIC)
def test_a_package_imports_nothing_heavy_before_a_name_is_asked_for(package: str) -> None:
    code = f"import sys, {package}\nprint([name for name in {HEAVY.split()!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("package", PUBLIC)
def test_a_name_stays_itself_when_modules_below_it_are_imported_first(package: str) -> None:
    """A module would hide a function of its own name."""
    code = f"import pkgutil, {package} as p\nfrom importlib import import_module\n"
    code += "[import_module(f'{p.__name__}.{m.name}') for m in pkgutil.iter_modules(p.__path__) if m.name[0] != '_'"
    code += " and m.name not in ('pytest_plugin', 'cli')]\n"
    code += f"from types import ModuleType\nprint([n for n in {PUBLIC[package].split()!r} "
    code += "if isinstance(getattr(p, n), ModuleType)])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unknown_name_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="module 'assay' has no attribute 'rum'"):
        import_module("assay").rum  # noqa: B018
