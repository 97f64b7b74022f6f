"""The `assay_benchmark` fixture: a test's timings and metrics become records, as those of any session.

    def test_sort(assay_benchmark):
        assay_benchmark(sorted, list(range(1000, 0, -1)))
        assay_benchmark.metric("items", 1000)

pytest imports this file in every run where Assay is installed, so nothing heavy is imported before the fixture is used.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import pytest

if TYPE_CHECKING:
    from assay.record import Environment, Record, SessionFolder, SessionInfo
    from assay.record.metric import Better

P = ParamSpec("P")
T = TypeVar("T")
SHORTEST_S = 1e-3
"""A sample that is shorter than this is mostly clock: quicker calls are timed several at once."""
_RECORDER = pytest.StashKey["Recorder"]()
_FAILED = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("assay")
    group.addoption("--assay-results-dir", metavar="DIR", help="default: $ASSAY_RESULTS_DIR, otherwise ./results")
    group.addoption("--assay-rounds", metavar="N", type=int, default=10, help="samples of each benchmark (default: 10)")
    group.addoption("--assay-session-name", metavar="NAME", default="pytest", help="the time is appended")


@pytest.fixture
def assay_benchmark(request: pytest.FixtureRequest) -> Iterator[PytestBenchmark]:
    config = request.config
    recorder = config.stash.setdefault(_RECORDER, Recorder(config))
    recorder.start()
    benchmark = PytestBenchmark(int(config.getoption("--assay-rounds")))
    started = time.time()
    yield benchmark
    recorder.add(request, benchmark, started)


class PytestBenchmark:
    """What a test holds. Called, it times a function; results of its own go in by `metric`."""

    def __init__(self, rounds: int) -> None:
        self._rounds = max(1, rounds)
        self.metrics: dict[str, Any] = {}

    def __call__(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Calls it once to warm up and to see how long it takes, then `--assay-rounds` times."""
        begun = time.perf_counter()
        result = function(*args, **kwargs)
        loops = max(1, round(SHORTEST_S / max(time.perf_counter() - begun, 1e-9)))
        samples = []
        for _ in range(self._rounds):
            begun = time.perf_counter()
            for _ in range(loops):
                function(*args, **kwargs)
            samples.append((time.perf_counter() - begun) / loops)
        self.metric("time_s", median(samples), unit="s", better="lower", samples=samples)
        return result

    def metric(
        self,
        name: str,
        value: Any,
        *,
        unit: str | None = None,
        better: Better | None = None,
        samples: Any = (),
        exact: bool = False,
    ) -> None:
        from assay.record import Metric

        self.metrics[name] = Metric(name, value, unit, better, tuple(samples), exact).to_json()


class Recorder:
    """The session that a run of pytest is: begun with the first benchmark, closed at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._open: tuple[SessionFolder, SessionInfo, Environment] | None = None
        self._names: list[str] = []
        self.summary: list[str] = []

    def start(self) -> None:
        if self._open is not None:
            return
        from datetime import UTC, datetime

        from assay.capture.environment import capture_environment
        from assay.record import SessionFolder, SessionInfo
        from assay.session.name import session_name

        given = self._config.getoption("--assay-results-dir") or os.environ.get("ASSAY_RESULTS_DIR") or "results"
        results = Path(given)
        now = datetime.now(UTC)
        # Each worker of pytest-xdist has a session of its own: one file cannot be appended to by several.
        worker = os.environ.get("PYTEST_XDIST_WORKER", "")
        name = self._config.getoption("--assay-session-name") + (f"-{worker}" if worker else "")
        path = results / session_name(name, False, now, results)
        path.mkdir(parents=True)
        folder = SessionFolder(path)
        environment = capture_environment(self._config.rootpath, path / "artifacts", "pytest")
        info = SessionInfo(path.name, now.isoformat(timespec="microseconds"), reason="pytest", pid=os.getpid())
        folder.write_environment(environment)
        folder.write_info(info)
        self._open = folder, info, environment

    def add(self, request: pytest.FixtureRequest, benchmark: PytestBenchmark, started: float) -> None:
        from assay.record.results_file import append_record

        assert self._open is not None
        folder, info, environment = self._open
        record = _record(request, benchmark, started, info.name, environment)
        self._names.append(record.name)
        append_record(folder.results, record)

    def close(self) -> None:
        if self._open is None:
            return
        from dataclasses import replace
        from datetime import UTC, datetime

        from assay.analysis import summary_lines, what_changed
        from assay.history import History
        from assay.report.html import write_report

        folder, info, _ = self._open
        ended = replace(
            info,
            status="finished",
            finished_at=datetime.now(UTC).isoformat(),
            planned=tuple(dict.fromkeys(self._names)),
        )
        folder.write_info(ended)
        with History.beside(folder.path.parent) as history:
            history.add_session(folder)
            changed = what_changed(folder.records(), history)
            # How long a test took holds the warm-up, the rounds and the fixtures: it is no measurement of the function.
            comparison = changed.without_own() if changed else None
            report = write_report(folder, history=history, comparison=comparison)
        self.summary = [*(summary_lines(comparison) if comparison else []), f"report: {report}"]


def _record(
    request: pytest.FixtureRequest, benchmark: PytestBenchmark, started: float, session: str, environment: Environment
) -> Record:
    import inspect
    from datetime import UTC, datetime

    from assay.record import Fingerprint, Outcome, Record
    from assay.record.fingerprint import digest

    item = request.node
    name = str(item.nodeid)
    params = {key: repr(value) for key, value in getattr(getattr(item, "callspec", None), "params", {}).items()}
    failed = item.stash.get(_FAILED, "")
    return Record(
        name=name,
        session=session,
        run_id=f"{session}/{name}/run-01",
        outcome=Outcome.FAILED if failed else Outcome.PASSED,
        started_at=datetime.fromtimestamp(started, UTC).isoformat(),
        fingerprint=Fingerprint(
            name, digest(params), digest(inspect.getsource(item.function)), environment.machine_class
        ),
        exec_time_s=time.time() - started,
        command=f"pytest {name}",
        script_params=params,
        script_metrics=benchmark.metrics,
        reasons=(failed,) if failed else (),
        git_commit=environment.git_commit,
    )


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    yield
    if call.when == "call" and call.excinfo is not None:
        item.stash[_FAILED] = call.excinfo.exconly(tryshort=True)[:500]


def pytest_sessionfinish(session: pytest.Session) -> None:
    recorder = session.config.stash.get(_RECORDER, None)
    if recorder is not None:
        recorder.close()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    recorder = config.stash.get(_RECORDER, None)
    if recorder is not None and recorder.summary:
        terminalreporter.section("assay")
        for line in recorder.summary:
            terminalreporter.write_line(line)
