"""Pages of sessions. A page is a function of the store and of what its address asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.analysis import Comparison, Insight, extract
from assay.history import SessionRow
from assay.record import SessionInfo
from assay.record.session_kind import EXPERIMENTS
from assay.report.dashboard.asked import PAGE, Asked, Listed, NotThere, commit_asked, number_asked, opened_session
from assay.report.dashboard.live import LiveEntry, live_entry
from assay.report.dashboard.store import Opened, Store
from assay.report.entry_page import EntryPage
from assay.report.limits import MOST_INSIGHTS, Limits


@dataclass(frozen=True)
class SessionsPage:
    running: tuple[SessionInfo, ...]
    sessions: Listed
    entries: tuple[str, ...]

    def previous(self, at: int) -> SessionRow | None:
        """What the session in that line is to be compared with: the next older one on the page that may be a baseline
        and, if it was imported, was imported too."""
        row, *older = self.sessions.rows[at:]
        kind = "import" if row.kind == "import" else "run"
        return next((other for other in older if other.kind == kind), None) if row.kind not in EXPERIMENTS else None


def sessions(store: Store, asked: Asked) -> SessionsPage:
    page = number_asked(asked, "page")
    with store.history() as history:
        found: list[SessionRow] = []
        if history:
            found = history.sessions(
                entry=asked.get("entry"), commit=commit_asked(asked), limit=PAGE + 1, offset=page * PAGE
            )
        names = tuple(history.entries()) if history else ()
    return SessionsPage(tuple(store.running()), Listed(tuple(found[:PAGE]), page, len(found) > PAGE), names)


@dataclass(frozen=True)
class SessionShown:
    opened: Opened
    entries: tuple[EntryPage, ...]
    comparison: Comparison | None
    insights: tuple[Insight, ...]
    live: LiveEntry | None

    @property
    def running(self) -> bool:
        return self.opened.view.info.status == "running"


def session(store: Store, asked: Asked) -> SessionShown:
    with store.history() as history:
        opened = opened_session(store, history, asked.get("name", ""))
        comparison = store.what_changed(opened, history)
    entries = [EntryPage.brief(entry, comparison) for entry in opened.view.ended]
    entries.sort(key=lambda entry: (not entry.regressed, entry.view.passed))
    running = opened.view.info.status == "running"
    found = extract([run for entry in opened.view.entries for run in entry.runs], opened.folder.path)
    insights = tuple(found[:MOST_INSIGHTS])
    return SessionShown(opened, tuple(entries), comparison, insights, live_entry(opened.folder) if running else None)


@dataclass(frozen=True)
class SessionEntryShown:
    opened: Opened
    entry: EntryPage
    series: dict[str, int]

    @property
    def plots(self) -> list[dict[str, Any]]:
        return [plot.to_json() for plot in self.entry.charts]


def session_entry(store: Store, asked: Asked) -> SessionEntryShown:
    with store.history() as history:
        opened = opened_session(store, history, asked.get("session", ""))
        view = next((entry for entry in opened.view.ended if entry.name == asked.get("entry")), None)
        if view is None:
            raise NotThere(f"{opened.view.info.name} has no entry {asked.get('entry', '')!r} that has ended")
        comparison = store.what_changed(opened, history)
        keys = {run.fingerprint.key for run in view.runs}
        found = history.series(entry=view.name) if history else []
    page = EntryPage.of(view, opened.folder, "entry", comparison, Limits(points=400, log_lines=200, metrics=500))
    return SessionEntryShown(opened, page, {s.metric: s.id for s in found if s.fingerprint in keys})


def live(store: Store, asked: Asked) -> dict[str, Any]:
    """Little, because it is asked every second: whether to load the page anew, and what the running entry prints."""
    with store.history() as history:
        opened = store.session(asked.get("name", ""), history)
    if opened is None:
        return {"status": "gone"}
    view = opened.view
    running = live_entry(opened.folder) if view.info.status == "running" else None
    return {
        "status": view.info.status,
        "ended": sum(len(entry.runs) for entry in view.entries),
        "log": running.log if running else "",
        "entry": running.name if running else "",
    }
