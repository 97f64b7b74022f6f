"""Pages of single runs, and of any two compared."""

from __future__ import annotations

from dataclasses import dataclass

from assay.analysis import Comparison, Row
from assay.analysis.compare_sessions import compare_sessions
from assay.analysis.surroundings import with_surroundings
from assay.history import History, RunRow
from assay.record import Metric, Record
from assay.report.comparison_order import ordered
from assay.report.dashboard.asked import PAGE, Asked, Listed, NotThere, number_asked, opened_session
from assay.report.dashboard.store import Store
from assay.report.quantity import quantity


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


@dataclass(frozen=True)
class Compared:
    comparison: Comparison | None
    table: tuple[tuple[str, str, str], ...]
    """Two single runs, side by side: metric, base, head."""
    sessions: tuple[str, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        """What regressed first."""
        return tuple(ordered(self.comparison)) if self.comparison else ()


def compare_two(store: Store, asked: Asked) -> Compared:
    """Two sessions, or two runs (`base` and `head` are names of sessions or ids of runs)."""
    with store.history() as history:
        if history is None:
            raise NotThere("nothing has been recorded yet")
        names = tuple(row.name for row in history.sessions(limit=200))
        if not (asked.get("base") and asked.get("head")):
            return Compared(None, (), names)
        base, head = (_records(store, history, asked[side]) for side in ("base", "head"))

    def make() -> Comparison:
        found = compare_sessions(
            base, head, store.results_dir, names=(asked["base"], asked["head"]), across="anyway" in asked
        )
        folders = ((store.results_dir / record.session for record in side) for side in (base, head))
        return with_surroundings(found, base, head, *folders)

    runs = tuple((record.run_id, record.started_at, str(record.outcome)) for record in (*base, *head))
    comparison = store.kept((asked["base"], asked["head"], "anyway" in asked, runs), make)
    return Compared(comparison, _side_by_side(base, head), names)


def _records(store: Store, history: History, name: str) -> list[Record]:
    run = history.record(name)
    if run is not None:
        return [run]
    return [record for entry in opened_session(store, history, name).view.entries for record in entry.runs]


def _side_by_side(base: list[Record], head: list[Record]) -> tuple[tuple[str, str, str], ...]:
    if len(base) != 1 or len(head) != 1:
        return ()
    a, b = base[0].metrics, head[0].metrics
    return tuple((name, _shown(a.get(name)), _shown(b.get(name))) for name in dict.fromkeys([*b, *a]))


def _shown(metric: Metric | None) -> str:
    return "–" if metric is None else quantity(metric.value, metric.unit)
