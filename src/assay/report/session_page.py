from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.analysis import Comparison
from assay.record import Outcome, SessionFolder
from assay.report.entry_page import EntryPage
from assay.report.exhibits.plot import Plot
from assay.report.exhibits.serving.settings_chart import settings_charts
from assay.report.limits import Limits
from assay.report.view import SessionView

_URGENCY = {Outcome.MISSED: 1, Outcome.INTERRUPTED: 2, Outcome.SKIPPED: 2, Outcome.PASSED: 3}


@dataclass(frozen=True)
class SessionPage:
    """All that is shown of one session: what regressed first, then what failed, then the rest as it ran."""

    view: SessionView
    entries: tuple[EntryPage, ...]
    changes: Comparison | None
    settings: tuple[Plot, ...] = ()
    """Curves of all entries that swept a load, in the same charts."""

    @classmethod
    def of(cls, folder: SessionFolder, changes: Comparison | None, limits: Limits) -> SessionPage:
        view = SessionView.of(folder)
        pages = [
            EntryPage.of(entry, folder, f"entry-{number}", changes, limits)
            for number, entry in enumerate(view.ended, 1)
        ]
        pages.sort(key=lambda page: (not page.regressed, _URGENCY.get(page.view.outcome or Outcome.PASSED, 0)))
        curves = [
            (page.view.name, page.serving.result.curve)
            for page in sorted(pages, key=lambda page: page.anchor)
            if page.serving and page.serving.result.curve
        ]
        return cls(view, tuple(pages), changes, settings_charts(curves))

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
