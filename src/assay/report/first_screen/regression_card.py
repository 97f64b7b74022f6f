from __future__ import annotations

from dataclasses import dataclass

from assay.analysis import Comparison, Row
from assay.report.earlier.earlier import Earlier
from assay.report.earlier.moved import Moved, most_telling
from assay.report.first_screen.since import Since
from assay.report.pages.entry_page import EntryPage


@dataclass(frozen=True)
class RegressionCard:
    """An entry that regressed: the metric that says most, what it was and is, and since when."""

    page: EntryPage
    row: Row
    others: tuple[Row, ...]
    """What regressed in it besides."""
    moved: Moved
    since: Since

    @classmethod
    def of(cls, page: EntryPage, changes: Comparison, earlier: Earlier) -> RegressionCard:
        lead, *others = most_telling([row for row in changes.regressed if row.entry == page.view.name])
        moved, since = Moved.of(lead, page.view, earlier), Since.of(lead, page.view.counted, earlier)
        return cls(page, lead, tuple(others), moved, since)
