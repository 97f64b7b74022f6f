from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

    from assay.pytest_plugin.recorder import Recorder

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
        from assay.pytest_plugin.measured_test import MeasuredTest
        from assay.pytest_plugin.recorder import Recorder

        if self._recorder is None:
            self._recorder = Recorder(
                self._config.rootpath,
                Path(self._option("results-dir") or os.environ.get("ASSAY_RESULTS_DIR") or "results"),
                self._option("session-name"),
                self._began,
                self._option("join"),
            )
        self._recorder.add(MeasuredTest.from_plain(measured))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._recorder is None:
            return
        self._recorder.close(interrupted=session.exitstatus == INTERRUPTED)
        if session.exitstatus == 0 and (self._recorder.problem or self._regressed):
            session.exitstatus = 1

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._recorder is None and not self._unmeasured:
            return
        from assay.pytest_plugin.results_table import ResultsTable, closing_lines, not_measured

        lines = [not_measured(self._unmeasured)] if self._unmeasured else []
        if self._recorder is not None:
            columns, sort, group_by = (self._option(name) for name in ("columns", "sort", "group-by"))
            table = ResultsTable(columns, sort, group_by, terminalreporter._tw.fullwidth)
            lines += closing_lines(self._recorder, table, bool(self._option("fail-on")))
        terminalreporter.section("assay")
        for line in lines:
            terminalreporter.write_line(line)

    @property
    def _regressed(self) -> bool:
        comparison = self._recorder.comparison if self._recorder else None
        return bool(self._option("fail-on") and comparison and comparison.regressed)

    def _option(self, name: str) -> Any:
        return self._config.getoption(f"--assay-{name}")
