"""The tables. All of it can be made anew from session folders, so a change of schema may be a rebuild; a column that
older rows have a true value for is added in place (`UPGRADES`), since the folders of old sessions may be pruned.

A series is one metric of one fingerprint. Its points lie together in one B-tree, in order of time, which makes a trend
one range scan; a run's points are found by the index on `run`. Bodies (whole records) stand apart, so that scans
over runs do not page through them.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from assay.errors import DataError
from assay.files.reading import check_database
from assay.files.writing import create_database
from assay.record.environment import Fingerprint, split_workload
from assay.record.session_folder import BASELINES

VERSION = 4

_TAGS = """CREATE TABLE tag (
    session INTEGER NOT NULL REFERENCES session (id),
    entry TEXT NOT NULL,
    tag TEXT NOT NULL,
    PRIMARY KEY (session, entry, tag)
) WITHOUT ROWID;
CREATE INDEX tag_by_word ON tag (tag, session)"""
"""What sessions (entry '') and entries are found by."""

_ACCEPTED = """CREATE TABLE accepted (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    entry TEXT NOT NULL,
    metric TEXT NOT NULL,
    session TEXT NOT NULL,
    started INTEGER NOT NULL,
    reason TEXT NOT NULL,
    who TEXT NOT NULL,
    at INTEGER NOT NULL,
    UNIQUE (fingerprint, metric, session)
);
CREATE INDEX accepted_by_entry ON accepted (entry)"""
"""Levels that somebody accepted as the new baseline, by series. `metric` is '' for all of an entry; `session` a name,
not an id: sessions may be imported anew. `started`: when the first accepted run began."""

TABLES = f"""
CREATE TABLE session (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    folder TEXT,
    started INTEGER NOT NULL,
    finished INTEGER,
    status TEXT NOT NULL,
    git_commit TEXT,
    git_branch TEXT,
    git_dirty INTEGER,
    machine TEXT NOT NULL,
    host TEXT NOT NULL,
    reason TEXT,
    planned INTEGER NOT NULL,
    environment TEXT NOT NULL,
    kind TEXT NOT NULL DEFAULT 'run'
);
CREATE INDEX session_by_start ON session (started);
CREATE INDEX session_by_commit ON session (git_commit, started);

{_TAGS};

{_ACCEPTED};

CREATE TABLE fingerprint (
    key TEXT PRIMARY KEY,
    entry TEXT NOT NULL,
    params TEXT NOT NULL,
    workload TEXT NOT NULL,
    machine TEXT NOT NULL,
    project TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX fingerprint_by_entry ON fingerprint (entry);

CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES session (id),
    entry TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    started INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    counts INTEGER NOT NULL,
    exec_time_s REAL NOT NULL,
    git_commit TEXT,
    script TEXT NOT NULL DEFAULT ''
);
CREATE INDEX run_by_session ON run (session, started);
CREATE INDEX run_by_fingerprint ON run (fingerprint, started);
CREATE INDEX run_by_entry ON run (entry, started);
CREATE INDEX run_by_start ON run (started);
CREATE INDEX run_by_outcome ON run (outcome, started);

CREATE TABLE body (
    run INTEGER PRIMARY KEY REFERENCES run (id),
    record BLOB NOT NULL
);

CREATE TABLE series (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    entry TEXT NOT NULL,
    metric TEXT NOT NULL,
    unit TEXT,
    better TEXT,
    UNIQUE (fingerprint, metric)
);
CREATE INDEX series_by_entry ON series (entry, metric);

CREATE TABLE point (
    series INTEGER NOT NULL,
    started INTEGER NOT NULL,
    run INTEGER NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (series, started, run)
) WITHOUT ROWID;
CREATE INDEX point_by_run ON point (run);
"""

UPGRADES = {
    1: """
ALTER TABLE session ADD COLUMN kind TEXT NOT NULL DEFAULT 'run';
UPDATE session SET kind = 'rerun' WHERE reason LIKE 'rerun of %';
UPDATE session SET kind = 'import' WHERE reason LIKE 'imported from %'
""",
    2: _TAGS,
    3: f"""
{_ACCEPTED};
ALTER TABLE fingerprint ADD COLUMN project TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN script TEXT NOT NULL DEFAULT ''
""",
}
"""Statements that upgrade from the version that is the key to the next one."""

# What the history asks its tables. `tests/history` checks that each of these is answered from an index.

_ORDINARY = "session.kind IN (" + ", ".join(f"'{kind}'" for kind in BASELINES) + ")"

NEWEST_RUNS = """SELECT body.record FROM run JOIN body ON body.run = run.id
    WHERE run.fingerprint = ? AND run.started < ? AND run.counts ORDER BY run.started DESC LIMIT ?"""

RECORDS_OF_SESSION = """SELECT body.record FROM run JOIN body ON body.run = run.id
    WHERE run.session = (SELECT id FROM session WHERE name = ?) ORDER BY run.started, run.id"""

_BASELINE = f"""run.counts AND {_ORDINARY} AND (run.outcome = 'passed' OR run.outcome = 'missed' AND EXISTS (
        SELECT 1 FROM accepted WHERE accepted.fingerprint = run.fingerprint AND accepted.session = session.name))"""
"""Runs that may be a baseline. Of a session that somebody accepted, those too that missed a requirement."""

BASELINE_SESSIONS = f"""SELECT run.started, session.id, session.name FROM run JOIN session ON session.id = run.session
    WHERE run.fingerprint = ? AND run.started >= ? AND run.started < ? AND {_BASELINE}
    ORDER BY run.started DESC"""

RUNS_OF_SERIES_IN_SESSION = f"""SELECT body.record FROM run JOIN body ON body.run = run.id
    JOIN session ON session.id = run.session
    WHERE run.fingerprint = ?1 AND +run.session = ?2 AND run.started < ?3 AND {_BASELINE}
    AND run.started >= session.started ORDER BY run.started"""

ACCEPTED = """SELECT id, fingerprint, entry, metric, session, started, reason, who, at FROM accepted"""

SAME_WORK = f"""SELECT run.run_id FROM fingerprint JOIN run ON run.fingerprint = fingerprint.key
    JOIN session ON session.id = run.session
    WHERE fingerprint.entry = ? AND fingerprint.project = ? AND run.started < ? AND run.counts AND {_ORDINARY}
    AND run.outcome IN ('passed', 'missed')
    ORDER BY fingerprint.machine = ? DESC, run.started DESC LIMIT 1"""
"""The newest earlier run of an entry, whatever its parameters and version; if possible on this class of machine."""

SESSION = """SELECT id, name, folder, started, finished, status, git_commit, git_branch, git_dirty, machine, host,
    reason, planned, kind FROM session"""

RUN = """SELECT run.run_id, session.name, run.entry, run.fingerprint, run.started, run.outcome, run.counts,
    run.exec_time_s, run.git_commit FROM run JOIN session ON session.id = run.session"""

TRACKS = """SELECT fingerprint.key, fingerprint.entry, fingerprint.params, fingerprint.workload, fingerprint.machine,
    fingerprint.project,
    run.run_id, session.name, run.entry, run.fingerprint, run.started, run.outcome, run.counts, run.exec_time_s,
    run.git_commit
    FROM fingerprint JOIN run ON run.id = (SELECT latest.id FROM run AS latest
        JOIN session AS its ON its.id = latest.session
        WHERE latest.fingerprint = fingerprint.key AND latest.counts AND its.kind IN ('run', 'import')
        ORDER BY latest.started DESC LIMIT 1)
    JOIN session ON session.id = run.session"""

ENTRY_TAGS = """SELECT DISTINCT tag FROM tag WHERE session = (SELECT id FROM session WHERE name = ?)
    AND (entry = ? OR entry = '') ORDER BY tag"""

ENVIRONMENTS = """SELECT session.name, session.environment FROM session
    WHERE session.name IN (SELECT value FROM json_each(?)) ORDER BY session.started"""

FOUND = r"""session.id IN (SELECT one.id FROM session AS one WHERE one.name || char(10) || coalesce(one.reason, '')
    || char(10) || one.host || char(10) || coalesce(one.git_branch, '') || char(10)
    || coalesce((SELECT group_concat(tag, char(10)) FROM tag WHERE tag.session = one.id), '') LIKE ? ESCAPE '\')"""
"""Sessions that hold a text. Every one is looked at, but not its runs."""

SERIES = """SELECT series.id, series.fingerprint, series.entry, series.metric, series.unit, series.better,
    (SELECT count(*) FROM point WHERE point.series = series.id),
    (SELECT value FROM point WHERE point.series = series.id ORDER BY started DESC, run DESC LIMIT 1),
    (SELECT max(started) FROM point WHERE point.series = series.id)
    FROM series"""

SERIES_OF = f"{SERIES} WHERE series.fingerprint = ? ORDER BY series.id"

TREND = """SELECT point.started, point.value, run.run_id, session.name, run.git_commit, run.script
    FROM point JOIN run ON run.id = point.run JOIN session ON session.id = run.session
    WHERE point.series = ? AND point.started >= ? AND point.started < ?
    ORDER BY point.started DESC, point.run DESC LIMIT ?"""

LEVELS = """SELECT run.session, point.value FROM point JOIN run ON run.id = point.run
    WHERE point.series = ? AND point.started >= ? AND point.started < ?
    ORDER BY point.started DESC, point.run DESC LIMIT ?"""

EXPORT = """SELECT session.name, run.run_id, run.entry, run.started, run.git_commit, run.outcome, run.fingerprint,
    fingerprint.params, fingerprint.workload, fingerprint.machine, series.metric, series.unit, series.better,
    point.value
    FROM series JOIN point ON point.series = series.id JOIN run ON run.id = point.run
    JOIN session ON session.id = run.session JOIN fingerprint ON fingerprint.key = run.fingerprint
    ORDER BY series.id, point.started"""

COMPARISON = """SELECT series.entry, series.metric, series.fingerprint, series.unit, series.better,
    run.run_id, point.value
    FROM run JOIN point ON point.run = run.id JOIN series ON series.id = point.series
    WHERE run.session = (SELECT id FROM session WHERE name = ?)"""

BUSY_S = 30.0

_WITH_SCRIPTS = 3
"""The last version in which the script's digest was part of a series' identity."""


def _join_series(db: sqlite3.Connection) -> None:
    """Joins series that differ only in the script's digest, which goes to the runs. The oldest keeps its id."""
    rows = db.execute("SELECT key, entry, params, workload, machine FROM fingerprint").fetchall()
    for key, *parts in rows:
        version, script = split_workload(parts[2])
        joined = Fingerprint(parts[0], parts[1], version, parts[3])
        if joined.key == key:
            continue
        put_fingerprint(db, joined)
        db.execute("UPDATE run SET fingerprint = ?, script = ? WHERE fingerprint = ?", (joined.key, script, key))
        db.execute("DELETE FROM fingerprint WHERE key = ?", (key,))
        for id, metric in db.execute("SELECT id, metric FROM series WHERE fingerprint = ?", (key,)).fetchall():
            [(kept,)] = db.execute(
                "SELECT coalesce(min(id), 0) FROM series WHERE fingerprint = ? AND metric = ?", (joined.key, metric)
            ).fetchall()
            if not kept:
                db.execute("UPDATE series SET fingerprint = ? WHERE id = ?", (joined.key, id))
                continue
            db.execute("UPDATE point SET series = ? WHERE series = ?", (kept, id))
            db.execute(
                "UPDATE series SET (unit, better) = (SELECT coalesce(newer.unit, series.unit),"
                " coalesce(newer.better, series.better) FROM series AS newer WHERE newer.id = ?) WHERE id = ?",
                (id, kept),
            )
            db.execute("DELETE FROM series WHERE id = ?", (id,))


def put_fingerprint(db: sqlite3.Connection, mark: Fingerprint) -> None:
    db.execute(
        "INSERT OR IGNORE INTO fingerprint (key, entry, params, workload, machine, project) VALUES (?, ?, ?, ?, ?, ?)",
        (mark.key, mark.entry, mark.params, mark.workload, mark.machine, mark.project),
    )


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
                if version == _WITH_SCRIPTS:
                    _join_series(upgrading)
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
