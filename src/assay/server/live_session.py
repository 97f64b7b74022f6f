"""A session that runs, read from its folder: the run itself knows nothing of it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from assay.files.reading import LOG, USAGE, ReadLimit, Unreadable, inside, last_lines
from assay.record import OUTPUT_FILE, USAGE_FILE, SessionFolder, SessionInfo
from assay.record.secrets import Masker
from assay.report.quantity import printable

_TAIL_BYTES = 8192
_LINES = 60
_RATE_S = 3.0
"""Seconds at the end of usage.csv over which processor use is taken."""

Expected = Callable[[str], float | None]
"""Seconds that a run of an entry took before; None if that is not known."""


@dataclass(frozen=True)
class LiveEntry:
    """What runs now, judged by its files: the log that was written to last and has no record yet."""

    name: str
    log: str
    elapsed_s: float | None = None
    limit_s: float | None = None
    cpus: float | None = None
    """Processors in use, over the last seconds."""
    rss_mb: float | None = None


@dataclass(frozen=True)
class LiveSession:
    name: str
    elapsed_s: float
    ended: int
    """Runs, warm-ups included."""
    total: int
    failed: int
    left_s: float | None
    """None where nothing that is still to run was ever run before."""
    unknown: int
    """Entries still to run whose time is not known, and not part of `left_s`."""
    entry: LiveEntry | None

    @property
    def share(self) -> float:
        return min(1.0, self.ended / self.total) if self.total else 0.0


def live_session(folder: SessionFolder, expected: Expected) -> LiveSession:
    info = folder.info()
    records = folder.records()
    times: dict[str, list[float]] = {}
    for record in records:
        if not record.superseded:
            times.setdefault(record.name, []).append(record.exec_time_s)
    planned = {name: max(1, info.runs.get(name, 1)) for name in info.planned}
    now = live_entry(folder, info, {record.run_id for record in records})
    left, unknown = _left(planned, times, expected, now)
    began = datetime.fromisoformat(info.started_at)
    return LiveSession(
        name=info.name,
        elapsed_s=max(0.0, (datetime.now(UTC) - began).total_seconds()),
        ended=sum(len(done) for done in times.values()),
        total=sum(max(count, len(times.get(name, ()))) for name, count in planned.items()),
        failed=len({record.name for record in records if record.counts and not record.success}),
        left_s=left,
        unknown=unknown,
        entry=now,
    )


def _left(
    planned: Mapping[str, int], times: Mapping[str, list[float]], expected: Expected, now: LiveEntry | None
) -> tuple[float | None, int]:
    """Seconds that are left if entries take as long as before, and the number of entries of which that is not known."""
    left, known, unknown = 0.0, False, 0
    for name, count in planned.items():
        more = count - len(times.get(name, ()))
        if more <= 0:
            continue
        each = median(times[name]) if times.get(name) else expected(name)
        if each is None:
            unknown += 1
            continue
        known = True
        spent = now.elapsed_s if now is not None and now.name == name and now.elapsed_s is not None else 0.0
        left += each * more - min(spent, each)
    return (left if known or not unknown else None), unknown


def live_entry(folder: SessionFolder, info: SessionInfo, ended: set[str]) -> LiveEntry | None:
    root = folder.path.resolve()
    newest: tuple[float, str, Path] | None = None
    for name in info.planned:
        own = inside(root, name)
        if own is None:
            continue
        for log in [own / OUTPUT_FILE, *own.glob(f"*/{OUTPUT_FILE}"), *own.glob(f"*/*/{OUTPUT_FILE}")]:
            if not log.is_file() or _run_id(info.name, name, log.parent.name) in ended:
                continue
            changed = log.stat().st_mtime
            if newest is None or changed > newest[0]:
                newest = (changed, name, log)
    if newest is None:
        return None
    _, name, log = newest
    lines = _end_of(log)
    used = _read_usage(log.parent / USAGE_FILE)
    shown = printable(Masker(os.environ).text("\n".join(lines[-_LINES:])), keep_lines=True)
    return LiveEntry(name, shown, used.elapsed_s, info.limits_s.get(name), used.cpus, used.rss_mb)


@dataclass(frozen=True)
class _Used:
    elapsed_s: float | None = None
    cpus: float | None = None
    rss_mb: float | None = None


def _read_usage(path: Path) -> _Used:
    """What a running program uses, from the end of usage.csv: seconds, processor seconds and memory stand first in each
    of its lines."""
    rows = []
    for line in _end_of(path, USAGE):
        try:
            t, cpu, rss = (float(cell) for cell in line.split(",")[:3])
        except ValueError:
            continue  # the header, or a line that is not written whole yet
        rows.append((t, cpu, rss))
    if not rows:
        return _Used()
    t, cpu, rss = rows[-1]
    # Written about once a second: between two, the clock goes on.
    elapsed = t + min(5.0, max(0.0, time.time() - path.stat().st_mtime))
    before = next((row for row in rows if row[0] >= t - _RATE_S), rows[-1])
    rate = max(0.0, (cpu - before[1]) / (t - before[0])) if t > before[0] else None
    return _Used(elapsed, rate, rss)


def _end_of(path: Path, limit: ReadLimit = LOG) -> list[str]:
    try:
        return last_lines(path, limit, _TAIL_BYTES)
    except (FileNotFoundError, Unreadable, OSError):
        return []


def _run_id(session: str, entry: str, folder: str) -> str:
    number = folder if folder.startswith(("run-", "warmup-")) else "run-01"
    return f"{session}/{entry}/{number}"
