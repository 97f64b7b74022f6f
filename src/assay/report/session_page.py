from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.analysis import Comparison
from assay.record import Outcome, SessionFolder
from assay.report.entry_page import EntryPage
from assay.report.exhibits.distribution import common_scales
from assay.report.exhibits.plots import Plot
from assay.report.exhibits.serving import settings_charts
from assay.report.first_screen import FirstScreen
from assay.report.page_templates import templates
from assay.report.run_folder import PageLimits
from assay.report.session_view import SessionView
from assay.report.text.comparison import change, counts_line, interval, order_rows
from assay.report.trends import CHANGED, Earlier, Moved

_URGENCY = {Outcome.MISSED: 1, Outcome.INTERRUPTED: 3, Outcome.SKIPPED: 3, Outcome.PASSED: 4}
_REGRESSED = 2


@dataclass(frozen=True)
class SessionPage:
    """All that is shown of one session: what failed first, then what regressed, then the rest as it ran."""

    view: SessionView
    entries: tuple[EntryPage, ...]
    changes: Comparison | None
    first: FirstScreen
    moved: Mapping[tuple[str, str], Moved]
    """What changed, drawn; by entry and metric."""
    settings: tuple[Plot, ...] = ()
    """Curves of all entries that swept a load, in the same charts."""

    @classmethod
    def of(
        cls, folder: SessionFolder, changes: Comparison | None, limits: PageLimits, earlier: Earlier | None = None
    ) -> SessionPage:
        view, earlier = SessionView.of(folder), earlier or Earlier(())
        scales = common_scales(entry.metrics() for entry in view.ended)
        pages = [
            EntryPage.of(entry, folder, f"entry-{number}", changes, limits, earlier, scales)
            for number, entry in enumerate(view.ended, 1)
        ]
        pages.sort(key=_urgency)
        curves = [
            (page.view.name, page.serving.result.curve)
            for page in sorted(pages, key=lambda page: page.anchor)
            if page.serving and page.serving.result.curve
        ]
        first = FirstScreen.of(view, pages, changes, earlier)
        moved = _find_moved(view, changes, earlier, limits) if changes else {}
        return cls(view, tuple(pages), changes, first, moved, settings_charts(curves))

    @property
    def anchors(self) -> dict[str, str]:
        return {page.view.name: page.anchor for page in self.entries}

    def plots(self) -> list[dict[str, Any]]:
        """What the page's script draws, by number; `data-plot` in the page says where. Where `x` is missing it is that
        of the plot before: a run's series were all sampled at once."""
        found: list[dict[str, Any]] = []
        before: object = None
        for plot in (*self.settings, *(plot for page in self.entries for plot in page.charts)):
            drawn = plot.to_json()
            if drawn["x"] == before:
                del drawn["x"]
            else:
                before = drawn["x"]
            found.append(drawn)
        return found


def _urgency(page: EntryPage) -> int:
    ended = _URGENCY.get(page.view.outcome or Outcome.PASSED, 0)
    return min(ended, _REGRESSED) if page.regressed else ended


def _find_moved(
    view: SessionView, changes: Comparison, earlier: Earlier, limits: PageLimits
) -> dict[tuple[str, str], Moved]:
    entries = {entry.name: entry for entry in view.ended}
    changed = [row for verdict in CHANGED for row in changes.of(verdict) if row.entry in entries]
    return {(row.entry, row.metric): Moved.of(row, entries[row.entry], earlier) for row in changed[: limits.moved]}


def comparison_page(comparison: Comparison) -> str:
    """One file that needs nothing else, like the session's report."""
    page = templates().get_template("comparison.html")
    return page.render(
        comparison=comparison,
        rows=order_rows(comparison),
        counts=counts_line(comparison),
        change=change,
        interval=interval,
    )
