from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import AssayError, UsageError
from assay.pytest_plugin.fixture import MeasuredTest

if TYPE_CHECKING:
    import pytest

    from assay.analysis import Comparison
    from assay.pytest_plugin.gate import Gated
    from assay.record import Environment, Record, SessionFolder, SessionInfo
    from assay.record.session_folder import Status


INTERRUPTED = 2
"""pytest's exit status after Ctrl-C, and after what ends it early."""


class Keeper:
    """The hooks of the process that keeps results: the only one, or with pytest-xdist the one whose workers test."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._began = datetime.now(UTC)
        self._recorder: Recorder | None = None
        self._unmeasured = 0

    def pytest_runtest_logreport(self, report: Any) -> None:
        measured = getattr(report, "assay_measured", None)
        self._unmeasured += bool(getattr(report, "assay_unmeasured", False))
        if measured is None:
            return
        from assay.pytest_plugin.fixture import MeasuredTest

        if self._recorder is None:
            self._recorder = Recorder(
                self._config.rootpath,
                Path(self._option("results-dir") or os.environ.get("ASSAY_RESULTS_DIR") or "results"),
                self._option("session-name"),
                self._began,
                self._option("join"),
                self._option("gate"),
            )
        self._recorder.add(MeasuredTest.from_plain(measured))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._recorder is None:
            return
        self._recorder.close(interrupted=session.exitstatus == INTERRUPTED)
        if session.exitstatus == 0 and (self._recorder.problem or self._recorder.failed):
            session.exitstatus = 1

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._recorder is None and not self._unmeasured:
            return
        from assay.pytest_plugin.results_table import ResultsTable, closing_lines, not_measured

        lines = [not_measured(self._unmeasured)] if self._unmeasured else []
        if self._recorder is not None:
            columns, sort, group_by = (self._option(name) for name in ("columns", "sort", "group-by"))
            table = ResultsTable(columns, sort, group_by, terminalreporter._tw.fullwidth)
            lines += closing_lines(self._recorder, table)
        terminalreporter.section("assay")
        for line in lines:
            terminalreporter.write_line(line)

    def _option(self, name: str) -> Any:
        return self._config.getoption(f"--assay-{name}")


class Recorder:
    """The session that a run of pytest is: begun with the first benchmark that ends, closed at the end.

    Nothing that goes wrong here stops a test: it is said at the end, and the run of pytest is no success.
    """

    def __init__(
        self, root: Path, results: Path, name: str, began: datetime, join: str | None = None, limit: float | None = None
    ) -> None:
        """`began`: a time before any test began, since no run of a session is older than the session. `limit`: of the
        gate; None without one."""
        self._root, self._results, self._name, self._join = root, results, name, join
        self._began = began
        self._open: tuple[SessionFolder, SessionInfo, Environment] | None = None
        self._runs: Counter[str] = Counter()
        self.measurements: list[MeasuredTest] = []
        self.comparison: Comparison | None = None
        self.limit = limit
        self.gated: list[Gated] = []
        self.report: Path | None = None
        self.problem = ""

    @property
    def failed(self) -> bool:
        """Whether the gate failed a test."""
        return any(one.result == "failed" for one in self.gated)

    def add(self, measurement: MeasuredTest) -> None:
        self.measurements.append(measurement)
        if not self.problem:
            self._guard(partial(self._add, measurement))

    def close(self, interrupted: bool = False) -> None:
        if self._open is not None and not self.problem:
            self._guard(partial(self._close, "interrupted" if interrupted else "finished"))

    def _guard(self, step: Callable[[], None]) -> None:
        try:
            step()
        except (AssayError, OSError) as error:
            self.problem = f"the results are not kept: {error}"

    def _add(self, measurement: MeasuredTest) -> None:
        from assay.record.results_file import append_record

        if self._open is None:
            self._open = self._join_session() if self._join else self._begin(self._name)
        folder, info, environment = self._open
        self._runs[measurement.name] += 1
        record = _record(measurement, self._runs[measurement.name], info.name, environment)
        append_record(folder.results, record)

    def _begin(self, name: str, exactly: bool = False) -> tuple[SessionFolder, SessionInfo, Environment]:
        from assay.record import SessionFolder, SessionInfo
        from assay.session.capture_environment import capture_environment
        from assay.session.workspace import session_name

        path = self._results / session_name(name, exactly, self._began, self._results)
        path.mkdir(parents=True)
        folder = SessionFolder(path)
        environment = capture_environment(self._root, path / "artifacts", "pytest")
        info = SessionInfo(path.name, self._began.isoformat(timespec="microseconds"), reason="pytest", pid=os.getpid())
        folder.write_environment(environment)
        folder.write_info(info)
        return folder, info, environment

    def _join_session(self) -> tuple[SessionFolder, SessionInfo, Environment]:
        from assay.record import SessionFolder

        assert self._join is not None
        path = self._results / self._join
        if not SessionFolder.is_one(path):
            return self._begin(self._join, exactly=True)
        folder = SessionFolder(path)
        info = folder.info()
        if info.reason != "pytest":
            raise UsageError(f"--assay-join {self._join}: {path} is no session of pytest; choose another name")
        self._runs.update(record.name for record in folder.records())
        running = replace(info, status="running", finished_at=None, pid=os.getpid())
        folder.write_info(running)
        return folder, running, folder.environment()

    def _close(self, status: Status) -> None:
        from assay.analysis import what_changed
        from assay.history import History
        from assay.report.html import write_report

        assert self._open is not None
        folder, info, _ = self._open
        names = dict.fromkeys((*info.planned, *self._runs))
        ended = replace(info, status=status, finished_at=datetime.now(UTC).isoformat(), planned=tuple(names))
        folder.write_info(ended)
        with History.beside(folder.path.parent) as history:
            records = folder.records()
            changed = what_changed(records, history)
            self.comparison = without_test_times(changed) if changed else None
            if self.limit is not None:
                from assay.pytest_plugin.gate import judge_session

                self.gated = judge_session(records, self.comparison, history, self.limit)
                _keep_results(folder, records, self.gated)
            history.add_session(folder)
            self.report = write_report(folder, history=history, comparison=self.comparison)


def _keep_results(folder: SessionFolder, records: Sequence[Record], gated: Sequence[Gated]) -> None:
    """A run that the gate fails missed a requirement, so that no later session takes it for a baseline. Runs that were
    added to a session are judged together: what failed with fewer may pass."""
    from assay.files.json_text import encode
    from assay.files.writing import write_atomic
    from assay.record import Outcome

    failed: dict[str, list[str]] = {}
    for one in gated:
        if one.result == "failed":
            failed.setdefault(one.test, []).append(one.reason)
    judged = []
    for record in records:
        if record.outcome in (Outcome.PASSED, Outcome.MISSED):
            reasons = tuple(failed.get(record.name, ()))
            judged.append(replace(record, outcome=Outcome.MISSED if reasons else Outcome.PASSED, reasons=reasons))
        else:
            judged.append(record)
    if judged != list(records):
        write_atomic(folder.results, "".join(encode(record.to_json()) + "\n" for record in judged))


def without_test_times(comparison: Comparison) -> Comparison:
    """The comparison without what Assay measured of whole tests: that holds warm-up, rounds and fixtures, and is no
    measurement of the function."""
    from assay.analysis.comparison import OWN

    return replace(comparison, rows=tuple(row for row in comparison.rows if row.metric not in OWN))


def _record(measurement: MeasuredTest, run: int, session: str, environment: Environment) -> Record:
    from assay.record import Fingerprint, Outcome, Record
    from assay.record.environment import digest

    name = measurement.name
    return Record(
        name=name,
        session=session,
        run_id=f"{session}/{name}/run-{run:02d}",
        repeat=run,
        outcome=Outcome.FAILED if measurement.failed else Outcome.PASSED,
        started_at=datetime.fromtimestamp(measurement.started, UTC).isoformat(),
        fingerprint=Fingerprint(name, digest(measurement.params), "", environment.machine_class),
        script=measurement.script,
        exec_time_s=measurement.seconds,
        command=f"pytest {name}",
        script_params=dict(measurement.params),
        script_metrics=dict(measurement.metrics),
        reasons=(measurement.failed,) if measurement.failed else (),
        git_commit=environment.git_commit,
    )
