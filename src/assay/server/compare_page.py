"""Any number of sessions or runs, compared: the first is what the others are held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.analysis import Comparison, Row
from assay.analysis.compare_records import compare_sessions
from assay.analysis.conditions import with_surroundings
from assay.analysis.ranking import Ranking, rankings
from assay.errors import UsageError
from assay.history import History
from assay.record import Metric, Record
from assay.report.quantity import quantity
from assay.report.text.comparison import order_rows
from assay.server.address import Asked, NotThere, open_session
from assay.server.session_store import Store
from assay.server.trend_charts import Scatter, colours, scatter_of

MOST_SIDES = 12
MOST_RANKINGS = 60
LETTERS = "ABCDEFGHIJKL"


@dataclass(frozen=True)
class Side:
    letter: str
    name: str
    colour: int
    session: str
    """Where its first run is from."""


@dataclass(frozen=True)
class Compared:
    sides: tuple[Side, ...]
    comparisons: tuple[Comparison, ...]
    """Comparisons of the first side with each of the others."""
    rankings: tuple[Ranking, ...]
    metrics: tuple[str, ...]
    """Metrics that could be chosen."""
    scatter: Scatter | None
    places: tuple[tuple[str, tuple[str, ...]], ...]
    """Entries that a scatter can be drawn of, and their metrics."""
    table: tuple[tuple[str, str, str], ...]
    """Two single runs, side by side: metric, base, head."""
    sessions: tuple[str, ...]
    series: dict[tuple[str, str], int]
    left_out: int = 0

    @property
    def comparison(self) -> Comparison | None:
        """The comparison, where there are two sides; None for more."""
        return self.comparisons[0] if len(self.comparisons) == 1 else None

    @property
    def rows(self) -> tuple[Row, ...]:
        """What regressed first."""
        return tuple(order_rows(self.comparison)) if self.comparison else ()


def compare(store: Store, asked: Asked) -> Compared:
    """`base`, `head` and each of `with` are names of sessions or ids of runs."""
    with store.history() as history:
        if history is None:
            raise NotThere("nothing has been recorded yet")
        names = tuple(row.name for row in history.sessions(limit=200))
        said = list(dict.fromkeys(name for key in ("base", "head", "with") for name in asked.get(key, "").split("\n")))
        said = [name for name in said if name]
        if len(said) < 2:
            return Compared((), (), (), (), None, (), (), names, {})
        if len(said) > MOST_SIDES:
            raise UsageError(f"{len(said)} sides are too many to look at: at most {MOST_SIDES} are compared at once")
        found_of = {name: _records(store, history, name) for name in said}
        if "base" not in asked:
            # Chosen in a list, where nobody says which is the first: what is older stands before what is newer.
            said.sort(key=lambda name: min((record.started_at for record in found_of[name]), default=""))
        records = [found_of[name] for name in said]
        series = _series(history, records)
    comparisons = tuple(_compare(store, said, records, at, "anyway" in asked) for at in range(1, len(said)))
    given = colours(said)
    sides = tuple(
        Side(LETTERS[at], name, given[name], records[at][0].session if records[at] else name)
        for at, name in enumerate(said)
    )
    found = rankings(records, comparisons)
    return _choose_metrics(asked, Compared(
        sides, comparisons, tuple(found), tuple(dict.fromkeys(one.metric for one in found)), None, (),
        _side_by_side(records) if len(said) == 2 else (), names, series,
    ))  # fmt: skip


def _choose_metrics(asked: Asked, compared: Compared) -> Compared:
    """The sides with the metrics that were chosen, and with the scatter."""
    chosen = set(asked.get("metric", "").split("\n")) - {""}
    wanted = [one for one in compared.rankings if not chosen or one.metric in chosen]
    by_entry: dict[str, list[str]] = {}
    for one in compared.rankings:
        by_entry.setdefault(one.entry, []).append(one.metric)
    places = tuple((entry, tuple(metrics)) for entry, metrics in by_entry.items() if len(metrics) > 1)
    scatter = None
    if places and len(compared.sides) > 1:
        entry = asked.get("entry") if asked.get("entry") in by_entry else places[0][0]
        metrics = by_entry[entry or places[0][0]]
        x, y = asked.get("x", ""), asked.get("y", "")
        x = x if x in metrics else _first(compared.rankings, entry or "", metrics, without=y)
        y = y if y in metrics else _first(compared.rankings, entry or "", metrics, without=x)
        letters, tints = [side.letter for side in compared.sides], [side.colour for side in compared.sides]
        scatter = scatter_of(compared.rankings, entry or "", x, y, letters, tints)
    left = max(0, len(wanted) - MOST_RANKINGS)
    return replace(compared, rankings=tuple(wanted[:MOST_RANKINGS]), scatter=scatter, places=places, left_out=left)


def _first(found: Sequence[Ranking], entry: str, metrics: Sequence[str], without: str) -> str:
    """A metric with a direction if there is one, so that a front can be told."""
    directed = [one.metric for one in found if one.entry == entry and one.better and one.metric != without]
    return next(iter([*directed, *(metric for metric in metrics if metric != without)]), "")


def _compare(store: Store, names: Sequence[str], records: Sequence[list[Record]], at: int, anyway: bool) -> Comparison:
    base, head = records[0], records[at]

    def make() -> Comparison:
        found = compare_sessions(base, head, store.results_dir, names=(names[0], names[at]), across=anyway)
        folders = (list(_folders(store.results_dir, side)) for side in (base, head))
        return with_surroundings(found, base, head, *folders)

    runs = tuple((record.run_id, record.started_at, str(record.outcome)) for record in (*base, *head))
    made = store.keep_comparison((names[0], names[at], anyway, runs), make)
    assert made is not None
    return made


def _folders(results_dir: Path, side: Sequence[Record]) -> list[Path]:
    return [results_dir / session for session in dict.fromkeys(record.session for record in side)]


def _records(store: Store, history: History, name: str) -> list[Record]:
    run = history.record(name)
    if run is not None:
        return [run]
    return [record for entry in open_session(store, history, name).view.entries for record in entry.runs]


def _series(history: History, sides: Sequence[Sequence[Record]]) -> dict[tuple[str, str], int]:
    """Id of the series of each entry and metric, from the last side that has the entry."""
    keys = {record.name: record.fingerprint.key for side in sides for record in side}
    return {(name, one.metric): one.id for name, key in keys.items() for one in history.series_of(key)}


def _side_by_side(sides: Sequence[Sequence[Record]]) -> tuple[tuple[str, str, str], ...]:
    if any(len(side) != 1 for side in sides):
        return ()
    a, b = sides[0][0].metrics, sides[1][0].metrics
    return tuple((name, _quantity(a.get(name)), _quantity(b.get(name))) for name in dict.fromkeys([*b, *a]))


def _quantity(metric: Metric | None) -> str:
    return "–" if metric is None else quantity(metric.value, metric.unit)
