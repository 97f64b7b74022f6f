from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from assay.errors import DataError, UsageError
from assay.files.json_text import decode
from assay.files.reading import storable
from assay.history.database import (
    ACCEPTED,
    BASELINE_SESSIONS,
    COMPARISON,
    ENTRY_TAGS,
    ENVIRONMENTS,
    EXPORT,
    FOUND,
    LEVELS,
    NEWEST_RUNS,
    RECORDS_OF_SESSION,
    RUN,
    RUNS_OF_SERIES_IN_SESSION,
    SAME_WORK,
    SERIES,
    SERIES_OF,
    SESSION,
    TRACKS,
    TREND,
    Database,
)
from assay.history.rows import (
    Accepted,
    ExportRow,
    Point,
    RunRow,
    Series,
    SessionRow,
    SessionValue,
    Track,
    iso,
    microseconds,
)
from assay.history.write_records import MEASURED, put_record, put_session
from assay.names import quote, unknown
from assay.record import Environment, Fingerprint, Record, SessionFolder, SessionInfo
from assay.record.session_folder import BASELINES

FILE_NAME = "history.sqlite"
_EVER = -(2**62)
_PAGE = 50


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

    @classmethod
    def start_anew(cls, results_dir: Path) -> None:
        """Forgets all but what was accepted, which no session folder has. A database that cannot be read is deleted."""
        path, fresh = results_dir / FILE_NAME, results_dir / f"{FILE_NAME}.new"
        rows: list[tuple[Any, ...]] = []
        with suppress(DataError), cls(path, read_only=True) as known:
            rows = known._db.rows(ACCEPTED)
        for suffix in ("", "-wal", "-shm"):
            fresh.with_name(fresh.name + suffix).unlink(missing_ok=True)
        if rows:
            with cls(fresh) as history, history._db.writing() as db:
                db.executemany("INSERT INTO accepted VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        for suffix in ("-wal", "-shm") if rows else ("-wal", "-shm", ""):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        if rows:
            os.replace(fresh, path)

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

    def baseline(
        self, fingerprint: Fingerprint, before: str, *, metric: str | None = None, limit: int = 1
    ) -> list[tuple[Record, ...]]:
        """What runs that began at `before` are compared with: the counted, passed runs of the same series, session by
        session, newest first, back to the newest level that was accepted.

        Whoever needs a baseline asks here. Experiments and reruns are nobody's. `metric`: levels that were accepted for
        this metric alone count too. Runs of an accepted session count although they missed a requirement, unless the
        metric they missed was not accepted. `limit`: number of sessions."""
        key, until = fingerprint.key, microseconds(before)
        accepted = self.accepted(key)
        found: list[tuple[Record, ...]] = []
        for session, name in self._baseline_sessions(key, self._since(key, metric, until), until):
            rows = self._db.rows(RUNS_OF_SERIES_IN_SESSION, key, session, until)
            covered = [one.metric for one in accepted if one.session == name]
            runs = tuple(run for row in rows if _is_accepted(run := _record(row[0]), covered))
            if runs:
                found.append(runs)
            if len(found) == limit:
                break
        return found

    def _baseline_sessions(self, key: str, since: int, until: int) -> Iterator[tuple[int, str]]:
        """Id and name of each, newest first. A page at a time: most callers want one session of a long history."""
        told: set[int] = set()
        while True:
            rows = self._db.rows(f"{BASELINE_SESSIONS} LIMIT {_PAGE}", key, since, until)
            for started, session, name in rows:
                until = int(started)
                if session not in told:
                    told.add(session)
                    yield int(session), str(name)
            if len(rows) < _PAGE:
                return

    def last_comparable(self, fingerprint: Fingerprint, before: str) -> tuple[Record, ...]:
        """The runs of the newest session of the baseline, or nothing."""
        return next(iter(self.baseline(fingerprint, before)), ())

    def previous_session(self, records: Iterable[Record], before: str) -> SessionRow | None:
        """The newest session begun before `before` that is a baseline of something of `records`."""
        marks = {record.fingerprint.key: record.fingerprint for record in records}
        last = [runs[0] for mark in marks.values() if (runs := self.last_comparable(mark, before))]
        newest = max(last, key=lambda run: (microseconds(run.started_at), run.session), default=None)
        return None if newest is None else self.session(newest.session)

    def nearest(self, record: Record, before: str) -> Record | None:
        """The newest earlier run of the entry in another series: says why a new series began."""
        mark = record.fingerprint
        rows = self._db.rows(SAME_WORK, mark.entry, mark.project, microseconds(before), mark.machine)
        return self.record(str(rows[0][0])) if rows else None

    # Accepted levels

    def accepted(self, fingerprint: str | None = None) -> list[Accepted]:
        """All, or those of one series, oldest first."""
        where, values = _where(("accepted.fingerprint = ?", fingerprint))
        rows = self._db.rows(f"{ACCEPTED} {where} ORDER BY at, id", *values)
        return [
            Accepted(row[0], row[1], row[2], row[3], row[4], iso(row[5]), row[6], row[7], iso(row[8])) for row in rows
        ]

    def accept(self, runs: Sequence[Record], metric: str, reason: str, who: str, at: str) -> list[Accepted]:
        """Makes the level of these runs of one session the baseline of their series, of `metric` alone unless it is
        empty. Accepting the same again changes reason and name."""
        first: dict[str, Record] = {}
        for run in sorted(runs, key=lambda run: microseconds(run.started_at)):
            first.setdefault(run.fingerprint.key, run)
        rows = [
            (key, run.name, metric, run.session, microseconds(run.started_at), storable(reason), storable(who),
             microseconds(at))
            for key, run in first.items()
        ]  # fmt: skip
        with self._db.writing() as db:
            db.executemany(
                "INSERT INTO accepted (fingerprint, entry, metric, session, started, reason, who, at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (fingerprint, metric, session) DO UPDATE SET"
                " reason = excluded.reason, who = excluded.who, at = excluded.at",
                rows,
            )
        names = {(key, metric, run.session) for key, run in first.items()}
        return [one for one in self.accepted() if (one.fingerprint, one.metric, one.session) in names]

    def accept_level(self, folder: SessionFolder, entry: str, metric: str, reason: str, who: str) -> list[Accepted]:
        """Accepts what a session measured of an entry, or of one of its metrics. Raises `UsageError` that says what
        there is to accept."""
        info = folder.info()
        reason = " ".join(reason.split())
        if not reason:
            raise UsageError("say why the change is intended: --reason TEXT")
        if info.kind not in BASELINES:
            raise UsageError(f"{info.name} is no session of `assay run` (kind {info.kind}): accept one with --session")
        if info.status == "running":
            raise UsageError(f"{info.name} is still running: accept its level when it has ended")
        counted = [run for run in folder.records() if run.counts]
        runs = [run for run in counted if run.name == entry]
        if not runs:
            raise UsageError(unknown("entry", entry, sorted({run.name for run in counted}), of=info.name))
        measured = [run for run in runs if run.outcome in MEASURED]
        if not measured:
            raise UsageError(
                f"{info.name} measured nothing of {entry}: {runs[-1].outcome.words}; accept another session"
            )
        known = dict.fromkeys(name for run in measured for name in run.metrics)
        if metric and metric not in known:
            raise UsageError(unknown("metric", metric, known, of=quote(entry)))
        self.add_session(folder)
        return self.accept(measured, metric, reason, who, datetime.now(UTC).isoformat())

    def take_back(self, id: int) -> Accepted | None:
        """Forgets what was accepted; None where there is none of that number."""
        found = next((one for one in self.accepted() if one.id == id), None)
        if found is not None:
            with self._db.writing() as db:
                db.execute("DELETE FROM accepted WHERE id = ?", (id,))
        return found

    def _since(self, fingerprint: str, metric: str | None, until: int) -> int:
        """When the newest accepted level began, of those known before `until`; the past may be asked about."""
        begun = [microseconds(one.started_at) for one in self.accepted(fingerprint) if one.metric in ("", metric)]
        return max((at for at in begun if at < until), default=_EVER)

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

    def points(
        self, series: int, *, before: str | None = None, limit: int = 1000, since_accepted: bool = False
    ) -> list[Point]:
        """The newest `limit` values, oldest first; with `since_accepted` from the newest accepted level on."""
        until = microseconds(before) if before else 2**62
        since = self._accepted_in(series, until) if since_accepted else _EVER
        return [_point(row) for row in reversed(self._db.rows(TREND, series, since, until, limit))]

    def _accepted_in(self, series: int, until: int) -> int:
        rows = self._db.rows("SELECT fingerprint, metric FROM series WHERE id = ?", series)
        return self._since(str(rows[0][0]), str(rows[0][1]), until) if rows else _EVER

    def values_by_session(self, series: int, *, before: str | None = None, limit: int = 1000) -> list[list[float]]:
        """The newest `limit` values from the newest accepted level on, those of one session together, oldest session
        first. A comparison asks it of each of its metrics, so it gives no more than the numbers."""
        until = microseconds(before) if before else 2**62
        since = self._accepted_in(series, until)
        sessions: dict[int, list[float]] = {}
        for session, value in reversed(self._db.rows(LEVELS, series, since, until, limit)):
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
        rows = self._db.rows("SELECT entry, params, workload, machine, project FROM fingerprint WHERE key = ?", key)
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


def _is_accepted(run: Record, metrics: Sequence[str]) -> bool:
    """Whether it passed, or what it missed was accepted; `metrics`: those accepted in its session, '' for all."""
    missed = {result.metric for result in run.requirements if not result.ok}
    return run.success or "" in metrics or missed <= set(metrics)


def _run(row: tuple[Any, ...]) -> RunRow:
    return RunRow(row[0], row[1], row[2], row[3], iso(row[4]), row[5], bool(row[6]), row[7], row[8])


def _track(row: tuple[Any, ...]) -> Track:
    return Track(row[0], row[1], row[2], row[3], row[4], row[5], _run(row[6:]))


def _series(row: tuple[Any, ...]) -> Series:
    return Series(row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], iso(row[8]))


def _point(row: tuple[Any, ...]) -> Point:
    return Point(iso(row[0]), *row[1:])
