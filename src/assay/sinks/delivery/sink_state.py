"""Exponential backoff with equal jitter (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015):
half of the delay is certain, so that a dead service is not hammered; half is random, so that many sessions that
lost the same service do not come back at the same moment."""

from __future__ import annotations

import random
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.files.json_text import decode, encode
from assay.files.reading import check_database
from assay.files.writing import create_database


@dataclass(frozen=True)
class Backoff:
    first_s: float = 0.5
    most_s: float = 60.0
    most_asked_s: float = 3600.0

    def delay(self, failures: int, asked_s: float | None = None) -> float:
        """`asked_s`: what the service itself said (Retry-After); never sooner than that, but no service can put it off
        for longer than `most_asked_s`."""
        ceiling = min(self.most_s, self.first_s * 2.0 ** min(failures - 1, 30))
        return max(min(asked_s or 0.0, self.most_asked_s), ceiling / 2 + random.uniform(0, ceiling / 2))


_LINKS = 20
_SCHEMA = """
CREATE TABLE IF NOT EXISTS progress (
    one INTEGER PRIMARY KEY CHECK (one = 1), position INTEGER NOT NULL, delivered INTEGER NOT NULL,
    failures INTEGER NOT NULL, ever_failed INTEGER NOT NULL, reason TEXT NOT NULL, next_try_at REAL NOT NULL);
INSERT OR IGNORE INTO progress VALUES (1, 0, 0, 0, 0, '', 0);
CREATE TABLE IF NOT EXISTS memory (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS link (name TEXT PRIMARY KEY, url TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS aside (key TEXT PRIMARY KEY, position INTEGER NOT NULL, reason TEXT NOT NULL,
    again INTEGER NOT NULL DEFAULT 0);
"""


@dataclass(frozen=True)
class SinkProgress:
    position: int = 0
    delivered: int = 0
    failures: int = 0
    """Failures in a row, of the message in hand."""
    ever_failed: int = 0
    reason: str = ""
    next_try_at: float = 0.0


class SinkState:
    """How far delivery to one sink has come, and what that sink remembers. SQLite, so that a kill loses nothing."""

    def __init__(self, path: Path, backoff: Backoff = Backoff()) -> None:
        self._backoff = backoff
        check_database(path)
        create_database(path, 0o600)
        self._db = sqlite3.connect(path, timeout=10, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.executescript(_SCHEMA)

    def close(self) -> None:
        self._db.close()

    @property
    def progress(self) -> SinkProgress:
        columns = "position, delivered, failures, ever_failed, reason, next_try_at"
        return SinkProgress(*self._db.execute(f"SELECT {columns} FROM progress").fetchone())

    def mark_delivered(self, end: int) -> None:
        self._db.execute(
            "UPDATE progress SET position=?, delivered=delivered+1, failures=0, reason='', next_try_at=0", (end,)
        )

    def mark_failed(self, reason: str, asked_s: float | None = None) -> None:
        failures = self.progress.failures + 1
        self._db.execute(
            "UPDATE progress SET failures=?, ever_failed=ever_failed+1, reason=?, next_try_at=?",
            (failures, reason, time.time() + self._backoff.delay(failures, asked_s)),
        )

    def try_now(self) -> None:
        self._db.execute("UPDATE progress SET next_try_at=0")

    def set_aside(self, key: str, end: int, reason: str) -> None:
        with closing(self._db.cursor()) as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            cursor.execute("INSERT OR REPLACE INTO aside VALUES (?, ?, ?, 0)", (key, end, reason))
            cursor.execute("UPDATE progress SET position=?, failures=0, reason='', next_try_at=0", (end,))
            cursor.execute("COMMIT")

    def aside(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT key, reason FROM aside ORDER BY position").fetchall())

    def retry_aside(self) -> None:
        self._db.execute("UPDATE aside SET again=1")

    def to_retry(self) -> set[str]:
        return {key for (key,) in self._db.execute("SELECT key FROM aside WHERE again=1")}

    def mark_refused_again(self, key: str, reason: str) -> None:
        self._db.execute("UPDATE aside SET again=0, reason=? WHERE key=?", (reason, key))

    def mark_accepted(self, key: str) -> None:
        self._db.execute("DELETE FROM aside WHERE key=?", (key,))
        self._db.execute("UPDATE progress SET delivered=delivered+1")

    def link(self, name: str, url: str) -> None:
        """Keeps a link, if it is among the first ones: a thousand would say no more."""
        count = self._db.execute("SELECT count(*) FROM link WHERE name != ?", (name,)).fetchone()[0]
        if count < _LINKS:
            self._db.execute("INSERT OR REPLACE INTO link VALUES (?, ?)", (name, url))

    def links(self) -> tuple[tuple[str, str], ...]:
        return tuple(self._db.execute("SELECT name, url FROM link ORDER BY rowid").fetchall())

    def remember(self, key: str, value: Any) -> None:
        self._db.execute("INSERT OR REPLACE INTO memory VALUES (?, ?)", (key, encode(value)))

    def recall(self, key: str, default: Any = None) -> Any:
        found = self._db.execute("SELECT value FROM memory WHERE key=?", (key,)).fetchone()
        return default if found is None else decode(found[0])
