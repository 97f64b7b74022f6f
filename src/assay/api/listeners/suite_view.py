from __future__ import annotations

from assay.api.listeners.console import Console
from assay.benchmarks.weights.orchestration.progress import SuiteProgress
from assay.report.text.text_width import middle_cut


class SuiteView(SuiteProgress):
    """Weight suites on a terminal: one live line, which goes before a table is printed. Elsewhere lines, as always."""

    def __init__(self, console: Console, estimates: list[float], kinds: list[str] | None = None) -> None:
        super().__init__(estimates, kinds)
        self._console = console

    def show(self, text: str) -> None:
        if self._console.live:
            self._console.show([middle_cut(text, (self._console.screen.width or 80) - 1)])
        else:
            super().show(text)

    def clear(self) -> None:
        self._console.show(())
