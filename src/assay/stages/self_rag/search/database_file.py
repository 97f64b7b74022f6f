from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from assay.errors import DataError
from assay.stages.self_rag.asked.passage import Passage

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
