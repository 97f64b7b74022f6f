from __future__ import annotations

from dataclasses import dataclass

from assay.record import Outcome
from assay.report.earlier.earlier import Earlier
from assay.report.first_screen.since import Since
from assay.report.pages.entry_page import EntryPage

LOG_LINES = 5
_NO_LOG = (Outcome.MISSED, Outcome.NOT_STARTED, Outcome.SKIPPED)
"""Outcomes of which the program's own output does not say why."""


@dataclass(frozen=True)
class FailureCard:
    """An entry that did not pass, and why."""

    page: EntryPage
    reasons: tuple[str, ...]
    log: str
    """The last lines of what it printed."""
    since: Since

    @classmethod
    def of(cls, page: EntryPage, earlier: Earlier) -> FailureCard:
        lines = [line for line in page.log.splitlines() if line.strip()]
        said = () if page.view.outcome in _NO_LOG else lines[-LOG_LINES:]
        since = Since.passed(page.view.name, page.view.counted, earlier)
        return cls(page, page.view.reasons, "\n".join(said), since)

    @property
    def runs(self) -> str:
        """`in 2 of 6 runs`; nothing where every run ended so."""
        counted = self.page.view.counted
        failed = [run for run in counted if not run.success]
        return f"in {len(failed)} of {len(counted)} runs" if 0 < len(failed) < len(counted) else ""
