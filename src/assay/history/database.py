from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from assay.errors import DataError
from assay.history.schema import TABLES, UPGRADES, VERSION
from assay.untrusted.regular_file import check_database
from assay.untrusted.writing import create_database

BUSY_S = 30.0


class Database:
    """One connection to the file. Writers take the lock at the start (BEGIN IMMEDIATE), so two processes wait for
    each other instead of failing half way; in WAL mode readers wait for nobody."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._connection = self._open(read_only)

    def _open(self, read_only: bool) -> sqlite3.Connection:
        check_database(self.path)
        if read_only and not os.path.isfile(self.path):
            raise DataError(f"there is no history at {self.path}: run `assay history import` to make it")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = self._connect(read_only)
            connection.execute(f"PRAGMA busy_timeout = {int(BUSY_S * 1000)}")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version == 0 and not read_only:
                self._create(connection)
            elif version in UPGRADES:
                self._upgrade()
            elif version != VERSION:
                connection.close()
                raise DataError(
                    f"{self.path} has schema {version}, this Assay uses {VERSION}: "
                    "make it anew with `assay history import --rebuild`"
                )
        except sqlite3.Error as error:
            raise self._translate_error(error) from None
        except OSError as error:
            raise DataError(f"{self.path}: {error.strerror}") from None
        except ValueError:
            raise DataError(f"{str(self.path)!r} is not a path: it has a null character") from None
        return connection

    def _connect(self, read_only: bool) -> sqlite3.Connection:
        if read_only:
            connection = self._connect_to("mode=ro")
            try:
                connection.execute("PRAGMA user_version")
            except sqlite3.OperationalError:
                # In a folder that cannot be written WAL has no place for its index; nobody else writes there either.
                if os.access(self.path.parent, os.W_OK):
                    raise
                connection.close()
                connection = self._connect_to("mode=ro&immutable=1")
            return connection
        create_database(self.path)
        connection = sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        # A crash of the machine may lose the last commits but never damages the file; the session folders have them.
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    def _connect_to(self, how: str) -> sqlite3.Connection:
        address = f"{self.path.resolve().as_uri()}?{how}"
        return sqlite3.connect(address, uri=True, timeout=BUSY_S, isolation_level=None, check_same_thread=False)

    @staticmethod
    def _create(connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have been first while this one waited for the lock.
            if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
                for statement in TABLES.split(";"):
                    if statement.strip():
                        connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("COMMIT")
        except sqlite3.Error:
            connection.execute("ROLLBACK")
            raise

    def _upgrade(self) -> None:
        """Upgrades the database in place and whole, by a connection of its own: the one that asks may be for reading
        only."""
        upgrading = self._connect(read_only=False)
        try:
            upgrading.execute("BEGIN IMMEDIATE")
            # Another process may have been first while this one waited for the lock.
            while (version := upgrading.execute("PRAGMA user_version").fetchone()[0]) in UPGRADES:
                for statement in UPGRADES[version].split(";"):
                    upgrading.execute(statement)
                upgrading.execute(f"PRAGMA user_version = {version + 1}")
            upgrading.execute("COMMIT")
        finally:
            upgrading.close()

    def _translate_error(self, error: sqlite3.Error) -> DataError:
        return DataError(f"{self.path}: {error}; make it anew with `assay history import --rebuild`")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise self._translate_error(error) from None
        try:
            yield self._connection
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._roll_back()
            raise self._translate_error(error) from None
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        """Rolls back; a full disk may have done so already, and then there is nothing to undo."""
        with suppress(sqlite3.Error):
            self._connection.execute("ROLLBACK")

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(sql, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._translate_error(error) from None

    def iterate(self, sql: str, *values: object) -> Iterator[tuple[Any, ...]]:
        try:
            yield from self._connection.execute(sql, values)
        except sqlite3.DatabaseError as error:
            raise self._translate_error(error) from None

    def plan(self, sql: str, *values: object) -> list[str]:
        """How SQLite would answer: what the tests on indexes read."""
        return [str(row[3]) for row in self._connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]

    def close(self) -> None:
        self._connection.close()
