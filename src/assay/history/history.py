from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from assay.errors import DataError
from assay.files.json_text import decode
from assay.history.database import (
    COMPARISON,
    ENTRY_TAGS,
    ENVIRONMENTS,
    EXPORT,
    FOUND,
    LAST_COMPARABLE,
    LEVELS,
    NEWEST_RUNS,
    PREVIOUS_SESSION,
    RECORDS_OF_SESSION,
    RUN,
    RUNS_OF_SERIES_IN_SESSION,
    SERIES,
    SERIES_OF,
    SESSION,
    TRACKS,
    TREND,
    Database,
)
from assay.history.rows import ExportRow, Point, RunRow, Series, SessionRow, SessionValue, Track, iso, microseconds
from assay.history.write_records import put_record, put_session
from assay.record import Environment, Fingerprint, Record, SessionFolder, SessionInfo

FILE_NAME = "history.sqlite"


@dataclass(frozen=True)
class Added:
    session: str
    new: int
    known: int


class History:
    """Every record over time, in one file beside the session folders it is made from."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self._db = Database(path, read_only=read_only)
        self.path = path

    @classmethod
    def beside(cls, results_dir: Path, *, read_only: bool = False) -> History:
        return cls(results_dir / FILE_NAME, read_only=read_only)

    @staticmethod
    def forget(results_dir: Path) -> None:
        for suffix in ("", "-wal", "-shm"):
            (results_dir / f"{FILE_NAME}{suffix}").unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    # Writing

    def add(self, record: Record, info: SessionInfo, environment: Environment, folder: Path | None = None) -> bool:
        """True if it was not there yet. Adding the same record again changes nothing."""
        with self._db.writing() as db:
            return put_record(db, put_session(db, info, environment, folder), record)

    def add_session(self, folder: SessionFolder) -> Added:
        return self.add_all(folder.records(), folder.info(), folder.environment(), folder.path.resolve())

    def add_all(
        self, records: Sequence[Record], info: SessionInfo, environment: Environment, folder: Path | None = None
    ) -> Added:
        """All of a session in one transaction."""
        with self._db.writing() as db:
            session = put_session(db, info, environment, folder)
            new = sum(put_record(db, session, record) for record in records)
        return Added(info.name, new, len(records) - new)

    # Reading

    def record(self, run_id: str) -> Record | None:
        rows = self._db.rows("SELECT body.record FROM run JOIN body ON body.run = run.id WHERE run_id = ?", run_id)
        return _record(rows[0][0]) if rows else None

    def records(self, session: str) -> list[Record]:
        rows = self._db.rows(RECORDS_OF_SESSION, session)
        return [_record(row[0]) for row in rows]

    def newest_runs(self, fingerprint: str, before: str, limit: int) -> list[Record]:
        return [_record(body) for (body,) in self._db.rows(NEWEST_RUNS, fingerprint, microseconds(before), limit)]

    def last_comparable(self, fingerprint: Fingerprint, before: str) -> tuple[Record, ...]:
        """The counted, passed runs with this fingerprint in the newest session that has any before `before`.

        Experiments and reruns are nobody's baseline."""
        newest = self._db.rows(LAST_COMPARABLE, fingerprint.key, microseconds(before))
        if not newest:
            return ()
        rows = self._db.rows(RUNS_OF_SERIES_IN_SESSION, fingerprint.key, newest[0][0], microseconds(before))
        return tuple(_record(row[0]) for row in rows)

    def previous_session(self, records: Iterable[Record], before: str) -> SessionRow | None:
        """The newest session begun before `before` in which something of `records` passed with the same fingerprint."""
        keys = sorted({record.fingerprint.key for record in records})
        best: tuple[int, str] | None = None
        for key in keys:
            for row in self._db.rows(PREVIOUS_SESSION, key, microseconds(before)):
                best = max(best or (int(row[0]), str(row[1])), (int(row[0]), str(row[1])))
        return None if best is None else self.session(best[1])

    def session(self, name: str) -> SessionRow | None:
        rows = self._db.rows(f"{SESSION} WHERE session.name = ?", name)
        return self._session(rows[0]) if rows else None

    def sessions(
        self,
        *,
        entry: str | None = None,
        commit: str | None = None,
        tag: str | None = None,
        text: str | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[SessionRow]:
        """Newest first. `text`: part of its name, reason, host or branch, of one of its tags or of an entry's."""
        like = None if text is None else f"%{text.translate(_PLAIN)}%"
        where, values = _where(
            ("session.id IN (SELECT session FROM tag WHERE tag = ?)", tag),
            (FOUND, like),
            ("session.id IN (SELECT session FROM run WHERE entry = ?)", entry),
            ("session.git_commit >= ?", commit),
            ("session.git_commit < ?", None if commit is None else commit + "g"),
        )
        sql = f"{SESSION} {where} ORDER BY session.started DESC, session.id DESC LIMIT ? OFFSET ?"
        return [self._session(row) for row in self._db.rows(sql, *values, limit, offset)]

    def runs(
        self,
        *,
        session: str | None = None,
        entry: str | None = None,
        outcome: str | None = None,
        fingerprint: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[RunRow]:
        """Newest first."""
        where, values = _where(
            ("run.session = (SELECT id FROM session WHERE name = ?)", session),
            ("run.entry = ?", entry),
            ("run.outcome = ?", outcome),
            ("run.fingerprint = ?", fingerprint),
        )
        sql = f"{RUN} {where} ORDER BY run.started DESC, run.id DESC LIMIT ? OFFSET ?"
        return [_run(row) for row in self._db.rows(sql, *values, limit, offset)]

    def runs_before(self, at: str) -> tuple[int, int]:
        """Number of runs started earlier, and which of them came in last: where both are equal, the past is the
        same."""
        asked = "SELECT count(*), coalesce(max(id), 0) FROM run WHERE started < ?"
        [(count, last)] = self._db.rows(asked, microseconds(at))
        return int(count), int(last)

    def entries(self) -> list[str]:
        return [str(row[0]) for row in self._db.rows("SELECT DISTINCT entry FROM fingerprint ORDER BY entry")]

    def series(
        self, *, entry: str | None = None, metric: str | None = None, limit: int = 1000, offset: int = 0
    ) -> list[Series]:
        where, values = _where(("series.entry = ?", entry), ("series.metric = ?", metric))
        sql = f"{SERIES} {where} ORDER BY series.entry, series.metric, series.id LIMIT ? OFFSET ?"
        return [_series(row) for row in self._db.rows(sql, *values, limit, offset) if row[6]]

    def series_by_id(self, id: int) -> Series | None:
        rows = self._db.rows(f"{SERIES} WHERE series.id = ?", id)
        return _series(rows[0]) if rows and rows[0][6] else None

    def tracks(self) -> list[Track]:
        """Every fingerprint that an ordinary session has a counted run of, in order of entry and machine."""
        rows = self._db.rows(TRACKS)
        return sorted((_track(row) for row in rows), key=lambda one: (one.entry, one.machine))

    def series_of(self, fingerprint: str) -> list[Series]:
        """Series of a fingerprint, in the order in which their first values came."""
        return [_series(row) for row in self._db.rows(SERIES_OF, fingerprint) if row[6]]

    def tags(self, session: str, entry: str) -> tuple[str, ...]:
        """Tags of an entry and of the session it was run in."""
        return tuple(str(row[0]) for row in self._db.rows(ENTRY_TAGS, session, entry))

    def environments(self, sessions: Sequence[str]) -> dict[str, Environment]:
        """What these sessions ran on, oldest first; of one whose row is damaged nothing is said."""
        found = {}
        for name, written in self._db.rows(ENVIRONMENTS, json.dumps(list(sessions))):
            with suppress(DataError, ValueError):
                found[str(name)] = Environment.from_json(decode(written))
        return found

    def series_id(self, fingerprint: str, metric: str) -> int | None:
        rows = self._db.rows("SELECT id FROM series WHERE fingerprint = ? AND metric = ?", fingerprint, metric)
        return int(rows[0][0]) if rows else None

    def points(self, series: int, *, before: str | None = None, limit: int = 1000) -> list[Point]:
        """The newest `limit` values, oldest first."""
        until = microseconds(before) if before else 2**62
        return [_point(row) for row in reversed(self._db.rows(TREND, series, until, limit))]

    def values_by_session(self, series: int, *, before: str | None = None, limit: int = 1000) -> list[list[float]]:
        """The newest `limit` values, those of one session together, oldest session first. A comparison asks it of each
        of its metrics, so it gives no more than the numbers."""
        until = microseconds(before) if before else 2**62
        sessions: dict[int, list[float]] = {}
        for session, value in reversed(self._db.rows(LEVELS, series, until, limit)):
            sessions.setdefault(session, []).append(value)
        return list(sessions.values())

    def metric_rows(self) -> Iterator[ExportRow]:
        """Every value there is, series by series in order of time."""
        for row in self._db.iterate(EXPORT):
            yield ExportRow(row[0], row[1], row[2], iso(row[3]), *row[4:])

    def values(self, session: str) -> list[SessionValue]:
        """Every number a session measured."""
        return [SessionValue(*row) for row in self._db.rows(COMPARISON, session)]

    def plan(self, sql: str) -> list[str]:
        return self._db.plan(sql)

    def fingerprint(self, key: str) -> Fingerprint | None:
        rows = self._db.rows("SELECT entry, params, workload, machine FROM fingerprint WHERE key = ?", key)
        return Fingerprint(*(str(part) for part in rows[0])) if rows else None

    def _session(self, row: tuple[Any, ...]) -> SessionRow:
        counted = self._db.rows(
            "SELECT outcome, count(*) FROM run WHERE session = ? AND counts GROUP BY outcome", row[0]
        )
        tags = self._db.rows("SELECT tag FROM tag WHERE session = ? AND entry = '' ORDER BY tag", row[0])
        return SessionRow(
            name=row[1],
            folder=row[2],
            started_at=iso(row[3]),
            finished_at=None if row[4] is None else iso(row[4]),
            status=row[5],
            git_commit=row[6],
            git_branch=row[7],
            git_dirty=None if row[8] is None else bool(row[8]),
            machine=row[9],
            host=row[10],
            reason=row[11],
            planned=row[12],
            outcomes={str(outcome): int(count) for outcome, count in counted},
            kind=row[13],
            tags=tuple(str(tag[0]) for tag in tags),
        )


_PLAIN = str.maketrans({"%": r"\%", "_": r"\_", "\\": r"\\"})
"""What LIKE would take for a pattern."""


def _where(*conditions: tuple[str, object]) -> tuple[str, list[object]]:
    asked = [(sql, value) for sql, value in conditions if value is not None]
    if not asked:
        return "", []
    return "WHERE " + " AND ".join(sql for sql, _ in asked), [value for _, value in asked]


def _record(body: Any) -> Record:
    try:
        return Record.from_json(decode(zlib.decompress(body)))
    except (zlib.error, ValueError, TypeError) as error:
        raise DataError(
            f"a record in the history is damaged ({error}): make it anew with `assay history import --rebuild`"
        ) from None


def _run(row: tuple[Any, ...]) -> RunRow:
    return RunRow(row[0], row[1], row[2], row[3], iso(row[4]), row[5], bool(row[6]), row[7], row[8])


def _track(row: tuple[Any, ...]) -> Track:
    return Track(row[0], row[1], row[2], row[3], row[4], _run(row[5:]))


def _series(row: tuple[Any, ...]) -> Series:
    return Series(row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], iso(row[8]))


def _point(row: tuple[Any, ...]) -> Point:
    return Point(iso(row[0]), row[1], row[2], row[3], row[4])
