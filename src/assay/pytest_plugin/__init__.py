"""The `assay_benchmark` fixture: a test's timings and metrics become records, as those of any session.

    def test_sort(assay_benchmark):
        assay_benchmark(sorted, list(range(1000, 0, -1)))
        assay_benchmark.metric("items", 1000)

pytest imports this file in every run where Assay is installed, so nothing heavy is imported before the fixture is used.
With pytest-xdist the workers time and the controller keeps: what a test measured travels on its report.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from assay.pytest_plugin.options import add_options

if TYPE_CHECKING:
    from assay.pytest_plugin.fixture import PytestBenchmark

FIXTURES = ("assay_benchmark", "benchmark")
_MEASURED = pytest.StashKey[dict[str, Any]]()
_FAILED = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "assay(group, rounds, max_time): which table a benchmark is in, and how often it is timed"
    )
    if not hasattr(config, "workerinput"):
        from assay.pytest_plugin.recorder import Keeper

        config.pluginmanager.register(Keeper(config), "assay_keeper")
    if not any(hasattr(plugin, "benchmark") for plugin in config.pluginmanager.get_plugins()):
        config.pluginmanager.register(BenchmarkFixture(), "assay_benchmark_fixture")
        config.addinivalue_line("markers", "benchmark(group, min_rounds, max_time): as with pytest-benchmark")
    for option in ("--assay-session-name", "--assay-join"):
        given = config.getoption(option)
        if given is None or given == "pytest":
            continue
        from assay.config.entry_name import check_name

        try:
            check_name(given)
        except ValueError as error:
            raise pytest.UsageError(f"{option} {given!r}: {error}") from None


def _is_benchmark(item: pytest.Item) -> bool:
    return any(name in FIXTURES for name in getattr(item, "fixturenames", ()))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    only, skip = config.getoption("--assay-only"), config.getoption("--assay-skip")
    if only == skip:
        if only:
            raise pytest.UsageError("--assay-only and --assay-skip leave no test: give one of them")
        return
    kept = [item for item in items if _is_benchmark(item) == only]
    if len(kept) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept


@pytest.fixture
def assay_benchmark(request: pytest.FixtureRequest) -> Iterator[PytestBenchmark]:
    from assay.errors import UsageError
    from assay.pytest_plugin.fixture import PytestBenchmark
    from assay.pytest_plugin.options import Marked

    try:
        marked = Marked.of(request.node, request.config)
    except UsageError as error:
        pytest.fail(str(error), pytrace=False)
    yield from _measure(request, PytestBenchmark(marked.wanted, _is_enabled(request.config), marked.group))


class BenchmarkFixture:
    """The fixture of pytest-benchmark, for tests that were written for it, where that isn't installed."""

    @pytest.fixture
    def benchmark(self, request: pytest.FixtureRequest) -> Iterator[PytestBenchmark]:
        from assay.pytest_plugin.fixture import AsPytestBenchmark
        from assay.pytest_plugin.options import Marked

        marked = Marked.of_benchmark(request.node, request.config)
        fixture = AsPytestBenchmark(marked.wanted, _is_enabled(request.config), marked.group)
        fixture.name, fixture.fullname = request.node.name, request.node.nodeid
        yield from _measure(request, fixture)


def _measure(request: pytest.FixtureRequest, benchmark: PytestBenchmark) -> Iterator[PytestBenchmark]:
    from assay.pytest_plugin.fixture import MeasuredTest

    item = request.node
    started, begun = time.time(), time.perf_counter()
    yield benchmark
    if benchmark.waits:
        pytest.fail("a coroutine function in an async test: write `await assay_benchmark(…)`", pytrace=False)
    if benchmark.enabled:
        measurement = MeasuredTest.of(item, benchmark, started, time.perf_counter() - begun)
        item.stash[_MEASURED] = measurement.to_plain()


def _is_enabled(config: pytest.Config) -> bool:
    disabled = config.getoption("--assay-disable") or _side_by_side(config)
    return bool(config.getoption("--assay-enable")) or not disabled


def _side_by_side(config: pytest.Config) -> bool:
    """Whether this pytest is one of several workers of pytest-xdist. Its variables would not tell: a pytest that a test
    of another starts has them too."""
    return int(getattr(config, "workerinput", {}).get("workercount", 1)) > 1


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    outcome: Any = yield
    if not _is_benchmark(item):
        return
    if call.when == "call" and not item.config.getoption("--assay-disable"):
        from assay.pytest_plugin.fixture import MeasuredTest

        other = MeasuredTest.of_pytest_benchmark(item, call.start, call.duration)
        if other is not None:
            item.stash[_MEASURED] = other.to_plain()
    if call.excinfo is not None and not call.excinfo.errisinstance(pytest.skip.Exception):
        item.stash.setdefault(_FAILED, call.excinfo.exconly(tryshort=True)[:500])
    if call.when != "teardown":
        return
    report = outcome.get_result()
    if _MEASURED in item.stash:
        measured: dict[str, Any] = item.stash[_MEASURED]
        report.assay_measured = {**measured, "failed": item.stash.get(_FAILED, "")}
        del item.stash[_MEASURED]
    elif _side_by_side(item.config) and not item.config.getoption("--assay-disable"):
        report.assay_unmeasured = True
