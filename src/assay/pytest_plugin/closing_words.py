"""What pytest says at its end: the table, what changed, the gate, where the report is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay.pytest_plugin.recorder import Recorder
from assay.pytest_plugin.results_table import ResultsTable

if TYPE_CHECKING:
    from assay.analysis import Comparison


def closing_lines(recorder: Recorder, table: ResultsTable, gate: bool) -> Iterator[str]:
    from assay.analysis import summary_lines

    tables = table.lines(recorder.measurements)
    yield from tables
    changed = summary_lines(recorder.comparison) if recorder.comparison else []
    if tables and changed:
        yield ""
    yield from changed
    if recorder.problem:
        yield recorder.problem
        return
    if gate:
        yield gate_line(recorder.comparison)
    if recorder.report is not None:
        yield f"report: {recorder.report}"


def gate_line(comparison: Comparison | None) -> str:
    if comparison is None or not comparison.compared:
        return "--assay-fail-on regressed: passed, but there is nothing to compare with yet"
    regressed = len(comparison.regressed)
    if regressed:
        return f"--assay-fail-on regressed: failed, {regressed} regressed"
    from assay.analysis import Verdict

    unsure = len(comparison.of(Verdict.INCONCLUSIVE))
    but = f"; {unsure} inconclusive, which more runs would tell (--assay-join)" if unsure else ""
    return f"--assay-fail-on regressed: passed, nothing regressed{but}"


def not_measured(benchmarks: int) -> str:
    tests = "1 benchmark was" if benchmarks == 1 else f"{benchmarks} benchmarks were"
    return (
        f"{tests} called once and not measured: pytest-xdist runs tests side by side, and they would slow each other; "
        "measure with -n 0, or all the same with --assay-enable"
    )
