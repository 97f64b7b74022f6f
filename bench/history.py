"""`make bench-history`: a million values in the history, and how long what people ask of it takes.

Times are medians of several askings in this run; the same question with its index taken away stands beside each, so
that the figures mean something on any machine.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from history_rows import fill

from assay.history import History

ENTRIES, METRICS = 50, 17
VALUES_A_SESSION = ENTRIES * (METRICS + 3)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--values", type=int, default=1_000_000)
    asked = parser.parse_args()
    sessions = asked.values // VALUES_A_SESSION
    with tempfile.TemporaryDirectory(prefix="assay-bench-history-") as folder:
        path = Path(folder) / "history.sqlite"
        begun = time.perf_counter()
        with History(path) as history:
            values = fill(history, sessions=sessions, entries=ENTRIES, metrics=METRICS)
        seconds = time.perf_counter() - begun
        size = path.stat().st_size / 1e6
        print(
            f"{values:,} values of {sessions * ENTRIES:,} runs in {sessions:,} sessions: {seconds:.1f} s, {size:.0f} MB"
        )
        with History(path, read_only=True) as history:
            with_indexes = {name: _ms(ask) for name, ask in _questions(history).items()}
        _drop_indexes(path)
        with History(path, read_only=True) as history:
            without = {name: _ms(ask, times=1) for name, ask in _questions(history).items()}
    print(f"\n{'question':42} {'with indexes':>14} {'without':>14}")
    for name, ms in with_indexes.items():
        print(f"{name:42} {ms:11.2f} ms {without[name]:11.2f} ms")


def _questions(history: History) -> dict[str, Callable[[], object]]:
    newest, earlier = (session.name for session in history.sessions(limit=2))
    [series] = history.series(entry="entry-007", metric="metric_03")
    [record, *_] = history.records(newest)
    return {
        "the latest 20 runs": lambda: history.runs(limit=20),
        "the latest 20 runs of an entry": lambda: history.runs(entry="entry-007", limit=20),
        "the latest 50 sessions, with outcomes": lambda: history.sessions(limit=50),
        "a trend of 1,000 values": lambda: history.points(series.id, limit=1000),
        "two sessions' values, to compare": lambda: (history.values(newest), history.values(earlier)),
        "the last comparable runs": lambda: history.last_comparable(record.fingerprint, record.started_at),
        "series of an entry": lambda: history.series(entry="entry-007"),
    }


def _ms(ask: Callable[[], object], times: int = 7) -> float:
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        ask()
        taken.append((time.perf_counter() - begun) * 1e3)
    return median(taken)


def _drop_indexes(path: Path) -> None:
    with sqlite3.connect(path) as db:
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND sql NOT NULL")]
        for name in names:
            db.execute(f"DROP INDEX {name}")


if __name__ == "__main__":
    main()
