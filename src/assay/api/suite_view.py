from __future__ import annotations

from assay.api.console import Console
from assay.benchmarks.weights.bench_plan import print_line
from assay.report.text.screen import middle_cut


class SuiteView:
    """Weight suites on a terminal: one live line, which goes before a table is printed. Elsewhere lines, as always."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __call__(self, text: str) -> None:
        if not self._console.live:
            print_line(text)
        else:
            self._console.show([middle_cut(text, (self._console.screen.width or 80) - 1)] if text else ())
