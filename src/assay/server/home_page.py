"""The first screen: what runs, what needs a person, and a grid of entries with their trends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from assay.analysis.comparison import OWN
from assay.server.address import Asked, Listed, number_asked
from assay.server.attention import Concern
from assay.server.live_session import LiveSession
from assay.server.session_pages import live_words
from assay.server.session_store import Store
from assay.server.status_board import GridRow, StatusBoard
from assay.server.trend_charts import Trend, colours

ROWS = 100
"""Rows of the grid on one page."""
MOST_COLUMNS = 8
_SHARED = 0.5
"""Share of the rows that must have a metric before it gets a column unasked."""
_UNASKED = 2

MAIN = ""
"""The column of each entry's own main metric."""


@dataclass(frozen=True)
class Column:
    metric: str
    title: str
    colour: int


@dataclass(frozen=True)
class HomePage:
    board: StatusBoard
    running: tuple[LiveSession, ...]
    open: tuple[Concern, ...]
    done: tuple[Concern, ...]
    """Concerns that are acknowledged."""
    columns: tuple[Column, ...]
    rows: Listed
    found: int
    """Rows that fit what is asked for, on all pages."""
    may_acknowledge: bool = False
    more_files: tuple[str, ...] = ()
    """Files that hold the other rows, on a published site."""

    def cell(self, row: GridRow, column: Column) -> Trend | None:
        return row.trends.get(row.main or "" if column.metric == MAIN else column.metric)

    def colour(self, metric: str) -> int:
        return self._colours[metric]

    @cached_property
    def _colours(self) -> dict[str, int]:
        return colours([metric for metric, _ in self.board.metrics])

    def words(self, session: LiveSession) -> dict[str, str]:
        return live_words(session)

    @property
    def chosen(self) -> set[str]:
        return {column.metric for column in self.columns}


def home(store: Store, asked: Asked) -> HomePage:
    board = store.board()
    page = number_asked(asked, "page")
    rows = [row for row in board.rows if fits(row, asked)]
    shown = {(row.entry, row.machine) for row in rows}
    concerns = [one for one in board.concerns if (one.entry, one.machine) in shown]
    return HomePage(
        board=board,
        running=store.live(),
        open=tuple(one for one in concerns if one.acknowledged is None),
        done=tuple(one for one in concerns if one.acknowledged is not None),
        columns=tuple(_columns(board, rows, asked)),
        rows=Listed(tuple(rows[page * ROWS : (page + 1) * ROWS]), page, len(rows) > (page + 1) * ROWS),
        found=len(rows),
        may_acknowledge=store.may_acknowledge,
    )


def fits(row: GridRow, asked: Asked) -> bool:
    """`name` is part of an entry's name or one of its tags; `tag` and `machine` are meant whole."""
    name = asked.get("name", "").lower()
    if name and not any(name in word.lower() for word in (row.entry, *row.tags)):
        return False
    if asked.get("tag") and asked["tag"] not in row.tags:
        return False
    return not asked.get("machine") or asked["machine"] == row.machine


def _columns(board: StatusBoard, rows: list[GridRow], asked: Asked) -> Iterator[Column]:
    """Those asked for; otherwise each entry's main metric, what many entries have, time and memory."""
    wanted = [metric for metric in asked.get("metric", "").split("\n") if metric]
    known = {metric for metric, _ in board.metrics}
    chosen = [metric for metric in wanted if metric in known][:MOST_COLUMNS]
    if not chosen:
        mains = {row.main for row in rows}
        shared = [metric for metric, _ in board.metrics if metric not in OWN and _beside(metric, rows)]
        own = [MAIN] if mains - {None} else []
        if mains - {None} and len(mains - {None}) == 1:
            own = [metric for metric in mains if metric]
        extra = [metric for metric in shared if metric not in own][:_UNASKED]
        chosen = [*own, *extra, *(metric for metric in ("exec_time_s", "usage.peak_rss_mb") if metric in known)]
    given = colours([metric for metric, _ in board.metrics])
    for metric in chosen:
        yield Column(metric, _TITLES.get(metric, metric), given.get(metric, 1))


def _beside(metric: str, rows: list[GridRow]) -> bool:
    """Whether many entries have it that do not show it as their main metric already."""
    return sum(metric in row.trends and row.main != metric for row in rows) >= _SHARED * len(rows)


_TITLES = {MAIN: "Main metric", "exec_time_s": "Time", "usage.peak_rss_mb": "Peak memory"}
