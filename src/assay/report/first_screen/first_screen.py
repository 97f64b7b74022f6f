from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.analysis import Comparison
from assay.record import Outcome
from assay.report.earlier.earlier import Earlier
from assay.report.first_screen.band import Band
from assay.report.first_screen.failure_card import FailureCard
from assay.report.first_screen.regression_card import RegressionCard
from assay.report.pages.entry_page import EntryPage
from assay.report.view import SessionView

MOST_CARDS = 8
"""Most cards of failures, and of regressions: a person reads no more; all others stand first in the table."""


@dataclass(frozen=True)
class FirstScreen:
    band: Band
    failures: tuple[FailureCard, ...]
    regressions: tuple[RegressionCard, ...]
    more_failures: tuple[EntryPage, ...]
    """Those without a card."""
    more_regressions: tuple[EntryPage, ...]
    skipped: tuple[EntryPage, ...]
    """Not run because of another that did not pass."""

    @classmethod
    def of(
        cls, view: SessionView, entries: Sequence[EntryPage], changes: Comparison | None, earlier: Earlier
    ) -> FirstScreen:
        skipped = [entry for entry in entries if entry.view.outcome is Outcome.SKIPPED]
        failed = [entry for entry in entries if not entry.view.passed and entry not in skipped]
        regressed = [entry for entry in entries if entry.regressed]
        return cls(
            Band.of(view, entries, changes),
            tuple(FailureCard.of(entry, earlier) for entry in failed[:MOST_CARDS]),
            tuple(RegressionCard.of(entry, changes, earlier) for entry in regressed[:MOST_CARDS]) if changes else (),
            tuple(failed[MOST_CARDS:]),
            tuple(regressed[MOST_CARDS:]),
            tuple(skipped),
        )
