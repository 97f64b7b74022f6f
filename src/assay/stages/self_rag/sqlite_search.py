"""A database that models may query: one SELECT at a time, and nothing that writes, hangs or fills the memory.

What a statement may do is decided by SQLite itself while it compiles it (an authorizer), not by looking at its text.
The limits follow SQLite's advice for queries that others wrote (https://sqlite.org/security.html). The clock is looked
at between steps of its machine, so the functions that can take long within one step are refused.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any

from assay.errors import DataError
from assay.pipeline.stage import Stage, Worker
from assay.record.metric import Metric
from assay.stages.self_rag.question import Passage, Question, question_of
from assay.stages.self_rag.retriever import MOST_INDEXED, TextIndex
from assay.stages.self_rag.sample_data import TownLibrary, fill

MOST_TEXT = 2000
"""Characters of one row as text."""


def open_read_only(path: Path) -> sqlite3.Connection:
    if not path.is_file():
        raise DataError(
            f"db_path: there is no file {path}; leave db_path out for a database that is made here, or write that one "
            "with: assay data questions FOLDER"
        )
    try:
        # A stage has one caller at a time, but not always in the thread that set it up.
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False)
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.Error as error:
        raise DataError(f"db_path: {path} is no SQLite database: {error}") from None
    return connection


def schema_of(connection: sqlite3.Connection) -> str:
    """The statements that made its tables, one a line."""
    made = connection.execute("SELECT sql FROM sqlite_master WHERE type IN ('table', 'view') AND sql NOTNULL")
    return "\n".join(" ".join(str(sql).split()) for (sql,) in made)


def every_row(connection: sqlite3.Connection, most: int) -> list[Passage]:
    """Rows of all tables as text, at most so many."""
    return list(islice(_rows(connection), most))


def _rows(connection: sqlite3.Connection) -> Iterator[Passage]:
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    for (table,) in names.fetchall():
        quoted = '"' + str(table).replace('"', '""') + '"'
        try:
            rows = connection.execute(f"SELECT * FROM {quoted}")
        except sqlite3.Error:
            continue  # A virtual table whose module is not here.
        columns = [column[0] for column in rows.description]
        yield from (row_passage(columns, row, f"{table}/{n}") for n, row in enumerate(rows))


def row_passage(columns: Sequence[str], row: Sequence[object], otherwise: str) -> Passage:
    """A row as text. Its id is its value in a column `id`, or `otherwise`."""
    cells = [(column, value) for column, value in zip(columns, row, strict=True) if not isinstance(value, bytes)]
    id = next((str(value) for column, value in cells if column.casefold() == "id"), otherwise)
    text = "; ".join(f"{column}: {value}" for column, value in cells if column.casefold() != "id")
    return Passage(id, text[:MOST_TEXT], row=True)


_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_ENDLESS = {"format", "load_extension", "printf", "randomblob"}
_STEPS = 1000
"""Instructions of SQLite's machine between two looks at the clock."""
_MOST_VALUE = 1_000_000
"""Bytes of one value, so that no function can make one that fills the memory."""
_MOST_SQL = 10_000
"""Bytes of one statement."""
_MOST_PATTERN = 200
"""Bytes of a LIKE or GLOB pattern: the time of a match grows with the power of its wildcards."""


@dataclass(frozen=True)
class SelectedRows:
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[object, ...], ...] = ()
    refused: str = ""
    """Why the statement gave nothing: it is not valid, not a SELECT, or took too long."""


class ReadOnlyDatabase:
    """A database on a connection, which it closes."""

    def __init__(self, connection: sqlite3.Connection, most_rows: int, seconds: float) -> None:
        self._connection = connection
        self._most_rows = most_rows
        self._seconds = seconds
        self._until = 0.0
        connection.execute("PRAGMA query_only = ON")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_VALUE)
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _MOST_SQL)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, _MOST_PATTERN)
        connection.set_progress_handler(lambda: int(monotonic() > self._until), _STEPS)
        connection.set_authorizer(_authorize)

    def select(self, statement: str, parameters: tuple[object, ...] = ()) -> SelectedRows:
        self._until = monotonic() + self._seconds
        try:
            cursor = self._connection.execute(statement, parameters)
            rows = cursor.fetchmany(self._most_rows)
            if cursor.description is None:
                return SelectedRows(refused="it is empty")
            columns = tuple(column[0] for column in cursor.description)
            cursor.close()
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
            late = monotonic() > self._until
            return SelectedRows(refused=f"it took more than {self._seconds:g} s" if late else str(error))
        return SelectedRows(columns, tuple(map(tuple, rows)))

    def close(self) -> None:
        self._connection.close()


def _authorize(action: int, _: str | None, function: str | None, *__: str | None) -> int:
    endless = action == sqlite3.SQLITE_FUNCTION and (function or "").casefold() in _ENDLESS
    return sqlite3.SQLITE_OK if action in _ALLOWED and not endless else sqlite3.SQLITE_DENY


def statement_in(said: str) -> str:
    """The first SELECT (or WITH … SELECT) in a model's words, without what stands around it; empty without one."""
    fenced = re.search(r"```(?:\w+\n)?(.*?)(?:```|$)", said, re.DOTALL)
    found = re.search(r"\b(?:select|with)\b.*", fenced.group(1) if fenced else said, re.DOTALL | re.IGNORECASE)
    return found.group().strip() if found else ""


class SQLiteSearch(Stage[Any, Question]):
    """Rows of a database: by the query that a model wrote, or, where none did, by the words of the question.

    `db_path` is a database file, opened to be read only; without it one about invented towns is made in memory
    (`towns`, `seed`). A query that is not one valid SELECT, or takes longer than `seconds`, finds nothing and is
    counted. `max_rows` are the rows of one search.
    """

    name = "SQLite search"

    def __init__(
        self, db_path: str | None = None, max_rows: int = 5, seconds: float = 1.0, towns: int = 24, seed: int = 0
    ) -> None:
        if isinstance(max_rows, bool) or not isinstance(max_rows, int) or max_rows < 1:
            raise ValueError(f"max_rows must be a whole number of 1 or more, not {max_rows!r}")
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
            raise ValueError(f"seconds must be a number above 0, not {seconds!r}")
        self._path = None if db_path is None else Path(db_path)
        self._most_rows, self._seconds = max_rows, float(seconds)
        self._library = TownLibrary(towns, seed)
        self._note = ""
        self.schema = ""
        """The statements that made the tables; known after set-up."""

    def setup(self, worker: Worker) -> None:
        if self._path is None:
            connection = sqlite3.connect(":memory:", check_same_thread=False)
            fill(connection, self._library)
        else:
            connection = open_read_only(self._path)
        self.schema = schema_of(connection)
        rows = every_row(connection, MOST_INDEXED + 1)
        if len(rows) > MOST_INDEXED:
            self._note = f"of {self._path}, the first {MOST_INDEXED} rows are searched by words"
        self._index = TextIndex(rows[:MOST_INDEXED])
        self._database = ReadOnlyDatabase(connection, self._most_rows, self._seconds)
        self.start_measuring()

    def teardown(self) -> None:
        self._database.close()
        self._index.close()

    def start_measuring(self) -> None:
        self._searches = self._invalid = self._empty = self._rows = 0

    def process(self, data: Any) -> Question:
        question = question_of(data)
        found = self._by_words(question.wording) if question.sql is None else self._by_query(question.sql)
        self._searches += 1
        self._empty += not found
        self._rows += len(found)
        return replace(question, rows=found)

    def _by_words(self, text: str) -> tuple[Passage, ...]:
        return tuple(self._index.find(text, self._most_rows))

    def _by_query(self, said: str) -> tuple[Passage, ...]:
        found = self._database.select(statement_in(said))
        self._invalid += bool(found.refused)
        return tuple(row_passage(found.columns, row, f"result/{n}") for n, row in enumerate(found.rows))

    def measured(self) -> Sequence[Metric]:
        return (
            Metric("searches", self._searches, unit="1"),
            Metric("invalid_queries", self._invalid, unit="1", better="lower"),
            Metric("empty", self._empty, unit="searches", better="lower"),
            Metric("rows", self._rows, unit="1"),
        )

    def notes(self) -> Sequence[str]:
        return (self._note,) if self._note else ()
