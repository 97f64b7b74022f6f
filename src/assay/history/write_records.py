"""Records into the tables."""

from __future__ import annotations

import math
import sqlite3
import zlib
from pathlib import Path

from assay.files.json_text import decode, encode
from assay.files.reading import storable
from assay.history.database import put_fingerprint
from assay.history.rows import microseconds
from assay.record import Environment, Outcome, Record, SessionInfo
from assay.record.session_folder import EXPERIMENTS

MEASURED = (Outcome.PASSED, Outcome.MISSED)
"""Only these give points: how long a crash took says nothing of how fast the program is."""


def put_session(db: sqlite3.Connection, info: SessionInfo, environment: Environment, folder: Path | None) -> int:
    row = (
        None if folder is None else storable(str(folder)),
        microseconds(info.started_at),
        None if info.finished_at is None else microseconds(info.finished_at),
        info.status,
        environment.git_commit,
        None if environment.git_branch is None else storable(environment.git_branch),
        environment.git_dirty,
        environment.machine_class,
        storable(environment.host),
        None if info.reason is None else storable(info.reason),
        len(info.planned),
        encode(environment.to_json()),
        info.kind,
        info.name,
    )
    found = db.execute("SELECT id FROM session WHERE name = ?", (info.name,)).fetchone()
    id = _put_session_row(db, found, row)
    tags = [("", tag) for tag in info.tags]
    tags += [(name, tag) for name, own in info.entry_tags.items() for tag in own]
    if found:
        db.execute("DELETE FROM tag WHERE session = ?", (id,))
    db.executemany(
        "INSERT OR IGNORE INTO tag (session, entry, tag) VALUES (?, ?, ?)",
        [(id, storable(entry), storable(tag)) for entry, tag in tags],
    )
    return id


def _put_session_row(db: sqlite3.Connection, found: tuple[int] | None, row: tuple[object, ...]) -> int:
    if found:
        db.execute(
            "UPDATE session SET folder = coalesce(?, folder), started = ?, finished = ?, status = ?, git_commit = ?,"
            " git_branch = ?, git_dirty = ?, machine = ?, host = ?, reason = ?, planned = ?, environment = ?,"
            " kind = ?"
            " WHERE name = ?",
            row,
        )
        return int(found[0])
    inserted = db.execute(
        "INSERT INTO session (folder, started, finished, status, git_commit, git_branch, git_dirty, machine, host,"
        " reason, planned, environment, kind, name) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        row,
    )
    return int(inserted.lastrowid or 0)


def put_record(db: sqlite3.Connection, session: int, record: Record) -> bool:
    """False if the very same record was there already. A record written anew (a resumed run) replaces the old one."""
    body = zlib.compress(encode(record.to_json(with_tasks=False)).encode(), 6)
    found = db.execute(
        "SELECT run.id, body.record FROM run JOIN body ON body.run = run.id WHERE run_id = ?", (record.run_id,)
    ).fetchone()
    if found:
        if _is_same(zlib.decompress(found[1]), zlib.decompress(body)):
            return False
        _remove(db, found[0])
    started = microseconds(record.started_at)
    key = record.fingerprint.key
    put_fingerprint(db, record.fingerprint)
    of_session, kind = db.execute("SELECT git_commit, kind FROM session WHERE id = ?", (session,)).fetchone()
    git_commit = record.git_commit or of_session
    inserted = db.execute(
        "INSERT INTO run (run_id, session, entry, fingerprint, started, outcome, counts, exec_time_s, git_commit,"
        " script) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (record.run_id, session, record.name, key, started, str(record.outcome), record.counts,
         record.exec_time_s, git_commit, record.script),
    )  # fmt: skip
    run = int(inserted.lastrowid or 0)
    db.execute("INSERT INTO body (run, record) VALUES (?, ?)", (run, body))
    if record.counts and record.outcome in MEASURED and kind not in EXPERIMENTS:
        _put_points(db, run, key, started, record)
    return True


def _is_same(known: bytes, body: bytes) -> bool:
    """Whether both are one record; the one that is known may be written in an older form."""
    return known == body or encode(Record.from_json(decode(known)).to_json(with_tasks=False)).encode() == body


def _put_points(db: sqlite3.Connection, run: int, key: str, started: int, record: Record) -> None:
    points = []
    for metric in record.metrics.values():
        if metric.number is None or not math.isfinite(metric.number):
            continue
        found = db.execute(
            "INSERT INTO series (fingerprint, entry, metric, unit, better) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (fingerprint, metric) DO UPDATE SET"
            " unit = coalesce(excluded.unit, unit), better = coalesce(excluded.better, better) RETURNING id",
            (key, record.name, metric.name, metric.unit, metric.better),
        ).fetchone()
        points.append((found[0], started, run, metric.number))
    db.executemany("INSERT INTO point (series, started, run, value) VALUES (?, ?, ?, ?)", points)


def _remove(db: sqlite3.Connection, run: int) -> None:
    db.execute("DELETE FROM point WHERE run = ?", (run,))
    db.execute("DELETE FROM body WHERE run = ?", (run,))
    db.execute("DELETE FROM run WHERE id = ?", (run,))


def reasons_against(a: Record, b: Record) -> tuple[str, ...]:
    """Why two records must not be compared; empty if they may be."""
    reasons = [
        f"{record.run_id} was not measured: {record.outcome}" for record in (a, b) if record.outcome not in MEASURED
    ]
    if a.warmup != b.warmup:
        reasons.append("one of them is a warm-up")
    return (*reasons, *a.fingerprint.differences(b.fingerprint))
