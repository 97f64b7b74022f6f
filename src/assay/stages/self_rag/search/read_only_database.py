"""A database that models may query: one SELECT at a time, and nothing that writes, hangs or fills the memory.

What a statement may do is decided by SQLite itself while it compiles it (an authorizer), not by looking at its text.
The limits follow SQLite's advice for queries that others wrote (https://sqlite.org/security.html). The clock is looked
at between steps of its machine, so the functions that can take long within one step are refused.
"""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from time import monotonic

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
