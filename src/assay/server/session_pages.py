"""Pages of sessions. A page is a function of the store and of what its address asks for."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from markupsafe import Markup

from assay.analysis import Comparison, Insight, extract
from assay.errors import DataError
from assay.history import History, RunRow, Series, SessionRow
from assay.record import Fingerprint
from assay.record.session_folder import EXPERIMENTS
from assay.record.task import is_task_metric
from assay.report.entry_page import EntryPage
from assay.report.quantity import duration, quantity
from assay.report.run_folder import MOST_INSIGHTS, PageLimits
from assay.report.svg.lines import sparkline_svg
from assay.server.address import PAGE, Asked, Listed, NotThere, commit_asked, number_asked, open_session
from assay.server.live_session import LiveEntry, LiveSession, live_session
from assay.server.session_store import Opened, Store
from assay.server.trend_charts import Trend, trend

# Pages of single runs.


@dataclass(frozen=True)
class RunsPage:
    runs: Listed
    entries: tuple[str, ...]


def runs(store: Store, asked: Asked) -> RunsPage:
    page = number_asked(asked, "page")
    with store.history() as history:
        found: list[RunRow] = []
        names: list[str] = []
        if history:
            found = history.runs(
                session=asked.get("session"), entry=asked.get("entry"), outcome=asked.get("outcome"),
                limit=PAGE + 1, offset=page * PAGE,
            )  # fmt: skip
            names = history.entries()
    return RunsPage(Listed(tuple(found[:PAGE]), page, len(found) > PAGE), tuple(names))


# Pages of entries.


@dataclass(frozen=True)
class EntryRow:
    name: str
    latest: RunRow
    trend: Markup


def entries(store: Store, asked: Asked) -> tuple[EntryRow, ...]:
    wanted = asked.get("name", "").lower()
    rows = []
    with store.history() as history:
        names = [name for name in history.entries() if wanted in name.lower()] if history else []
        for name in names[:500]:
            assert history is not None
            latest = history.runs(entry=name, limit=20)
            if not latest:
                continue  # a name that only fingerprints have: its runs were replaced, or say another one
            times = [run.exec_time_s for run in reversed(latest) if run.counts and run.outcome in ("passed", "missed")]
            rows.append(EntryRow(name, latest[0], sparkline_svg(times, f"{len(times)} latest times of {name}")))
    rows.sort(key=lambda row: row.latest.started_at, reverse=True)
    return tuple(rows)


@dataclass(frozen=True)
class EntryShown:
    name: str
    series: tuple[tuple[Series, Trend | None], ...]
    fingerprints: dict[str, Fingerprint]
    runs: tuple[RunRow, ...]


def entry(store: Store, asked: Asked) -> EntryShown:
    name = asked.get("name", "")
    with store.history() as history:
        if history is None or not (latest := history.runs(entry=name, limit=20)):
            raise NotThere(f"no run of an entry {name!r} has been recorded")
        found = sorted(history.series(entry=name, limit=300), key=lambda one: is_task_metric(one.metric))
        drawn = [(one, trend(history, one)) for one in found]
        keys = {one.fingerprint for one in found}
        marks = {key: mark for key in keys if (mark := history.fingerprint(key))}
    return EntryShown(name, tuple(drawn), marks, tuple(latest))


@dataclass(frozen=True)
class SessionsPage:
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
                entry=asked.get("entry"), commit=commit_asked(asked), tag=asked.get("tag"), text=asked.get("text"),
                limit=PAGE + 1, offset=page * PAGE,
            )  # fmt: skip
        names = tuple(history.entries()) if history else ()
    return SessionsPage(Listed(tuple(found[:PAGE]), page, len(found) > PAGE), names)


@dataclass(frozen=True)
class SessionShown:
    opened: Opened
    entries: tuple[EntryPage, ...]
    comparison: Comparison | None
    insights: tuple[Insight, ...]
    live: LiveSession | None
    series: dict[tuple[str, str], int]
    """Id of the series of each entry and metric that has one."""
    problem: str = ""
    """Why it cannot be told what changed, or empty."""

    @property
    def words(self) -> dict[str, str]:
        return live_words(self.live) if self.live else {}

    @property
    def running(self) -> bool:
        return self.opened.view.info.status == "running"


def session(store: Store, asked: Asked) -> SessionShown:
    with store.history() as history:
        opened = open_session(store, history, asked.get("name", ""))
        comparison, problem = _changes(store, opened, history)
        marks = {run.name: run.fingerprint.key for entry in opened.view.entries for run in entry.measured}
        series = (
            {(name, one.metric): one.id for name, key in marks.items() for one in history.series_of(key)}
            if history
            else {}
        )
    entries = [EntryPage.brief(entry, comparison) for entry in opened.view.ended]
    entries.sort(key=lambda entry: (not entry.regressed, entry.view.passed))
    running = opened.view.info.status == "running"
    found = extract([run for entry in opened.view.entries for run in entry.runs], opened.folder.path)
    insights = tuple(found[:MOST_INSIGHTS])
    live = live_session(opened.folder, store.usual_s) if running else None
    return SessionShown(opened, tuple(entries), comparison, insights, live, series, problem)


def _changes(store: Store, opened: Opened, history: History | None) -> tuple[Comparison | None, str]:
    """What changed, or why that cannot be told: what is damaged of earlier sessions takes nothing from this one."""
    try:
        return store.what_changed(opened, history), ""
    except DataError as error:
        return None, str(error)


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
        opened = open_session(store, history, asked.get("session", ""))
        view = next((entry for entry in opened.view.ended if entry.name == asked.get("entry")), None)
        if view is None:
            raise NotThere(f"{opened.view.info.name} has no entry {asked.get('entry', '')!r} that has ended")
        comparison, _ = _changes(store, opened, history)
        keys = {run.fingerprint.key for run in view.runs}
        found = history.series(entry=view.name) if history else []
    page = EntryPage.of(view, opened.folder, "entry", comparison, PageLimits(points=400, log_lines=200, metrics=500))
    return SessionEntryShown(opened, page, {s.metric: s.id for s in found if s.fingerprint in keys})


def live(store: Store, asked: Asked) -> dict[str, Any]:
    """Little, because it is asked every second: whether to load the page anew, and what the running entry prints."""
    with store.history() as history:
        opened = store.session(asked.get("name", ""), history)
    if opened is None:
        return {"status": "gone"}
    if opened.view.info.status != "running":
        return {"status": opened.view.info.status}
    now = live_session(opened.folder, store.usual_s)
    return {"status": "running", **asdict(now), "words": live_words(now)}


def live_words(now: LiveSession) -> dict[str, str]:
    """What a page says of a session that runs, so that it says the same when it is loaded and a minute later."""
    entry = now.entry
    return {
        "progress": f"{now.ended} of {now.total} runs have ended" + (f", {now.failed} failed" if now.failed else ""),
        "elapsed": duration(now.elapsed_s),
        "left": _left(now),
        "clock": _clock(entry) if entry else "",
        "cpus": "–" if entry is None or entry.cpus is None else f"{entry.cpus:.1f}",
        "memory": "–" if entry is None or entry.rss_mb is None else quantity(float(round(entry.rss_mb)), "MB"),
    }


def _left(now: LiveSession) -> str:
    others = f"; {now.unknown} never run before" if now.unknown else ""
    if now.left_s is None:
        return "not known: nothing of what is left was run before"
    return (f"about {duration(float(round(now.left_s)))}" if now.left_s >= 1 else "about to end") + others


def _clock(entry: LiveEntry) -> str:
    if entry.elapsed_s is None:
        return "–"
    limit = f" (limit {duration(entry.limit_s)})" if entry.limit_s else ""
    return duration(float(int(entry.elapsed_s))) + limit
