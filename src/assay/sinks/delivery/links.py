from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from assay.sinks.delivery.outbox import Outbox
from assay.untrusted.regular_file import check_database
from assay.untrusted.unreadable import Unreadable


class Links:
    """What sinks have announced so far, read while the delivery process goes on.

    Asked twice a second beside a run: a state that has not changed since is not opened.
    """

    def __init__(self, outbox: Outbox, sinks: list[str]) -> None:
        self._states = [outbox.state_path(name) for name in sinks]
        self._seen: dict[Path, tuple[int, ...]] = {}
        self._told: set[tuple[str, str]] = set()

    def new(self) -> list[tuple[str, str]]:
        """Links that were not there the last time: what is to be seen, and the address."""
        found = [link for state in self._states if self._has_changed(state) for link in _links(state)]
        new = [link for link in dict.fromkeys(found) if link not in self._told]
        self._told.update(new)
        return new

    def _has_changed(self, state: Path) -> bool:
        stamp = (*_stamp(state), *_stamp(state.with_name(f"{state.name}-wal")))
        changed = stamp != self._seen.get(state, (0, 0, 0, 0))
        self._seen[state] = stamp
        return changed


def _stamp(path: Path) -> tuple[int, int]:
    try:
        about = path.stat()
    except OSError:
        return 0, 0
    return about.st_size, about.st_mtime_ns


def _links(state: Path) -> list[tuple[str, str]]:
    try:
        check_database(state)
        with closing(sqlite3.connect(f"{state.as_uri()}?mode=ro", uri=True, timeout=0)) as database:
            return database.execute("SELECT name, url FROM link ORDER BY rowid").fetchall()
    except (sqlite3.Error, Unreadable):
        return []  # being made, or busy: it changes again
