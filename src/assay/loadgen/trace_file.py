"""The Chrome trace-event format, which Perfetto and chrome://tracing open.

(Trace Event Format, Google, 2016.) A process a pipeline; a thread a stage, plus one for the queries whole.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final, TextIO, get_args

import numpy as np
from numpy.typing import NDArray

from assay.errors import MissingExtra
from assay.files.writing import open_new
from assay.loadgen.colocation.policy import Action
from assay.loadgen.shared_counters import COLUMNS, DROPPED, ERROR, HEAD, OK, PIPELINE, ROW, TAIL, TEST, Board

if TYPE_CHECKING:
    from assay.loadgen.colocation.policy import Decision


Rows = NDArray[np.void]
"""Structured rows with the columns of `board.COLUMNS`."""
DTYPE: Final = np.dtype([(name, np.int64) for name in COLUMNS])
_EVERY_S = 0.02


class Spool:
    """Moves rows from a board's ring into a file as they are. What reads them later sees all of a run, however long."""

    def __init__(self, board: Board, path: Path, seen: Callable[[Rows], None] | None = None) -> None:
        self._board = board
        self._ring = np.frombuffer(board.rows, DTYPE)
        self._seen = seen
        self.path = path
        self._file = open_new(path, "wb")

    def drain(self) -> int:
        page, capacity = self._board.page, self._board.capacity
        head, tail = page[HEAD], page[TAIL]
        if head == tail:
            return 0
        first, last = tail % capacity, head % capacity
        parts = [self._ring[first:last]] if first < last else [self._ring[first:], self._ring[:last]]
        for part in parts:
            self._file.write(part.data)
            if self._seen is not None and len(part):
                self._seen(part)
        page[TAIL] = head
        return int(head - tail)

    def close(self) -> None:
        if not self._file.closed:
            self.drain()
            self._file.close()
            del self._ring

    @property
    def dropped(self) -> int:
        return int(self._board.page[DROPPED])


class SpoolThread:
    """Drains in the background, for a pipeline that runs in the caller's process."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._end = Event()
        self._thread = Thread(target=self._run, daemon=True, name="spool")

    def __enter__(self) -> SpoolThread:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._end.set()
        self._thread.join()
        self._spool.close()

    def _run(self) -> None:
        while not self._end.wait(_EVERY_S):
            self._spool.drain()


def read_rows(path: Path) -> Rows:
    """A row that was cut off in the middle of writing is left out."""
    whole = path.stat().st_size // ROW.size
    return np.memmap(path, DTYPE, "r", shape=(whole,)) if whole else np.empty(0, DTYPE)


FIRST_ACTION: Final = -10
"""Largest number in the column of stages that stands for a policy's action: this and below are no stages."""
ACTION_NAMES: Final = {FIRST_ACTION - n: action for n, action in enumerate(get_args(Action))}
_CODES = {action: code for code, action in ACTION_NAMES.items()}


def decision_rows(decisions: Sequence[Decision], released_at: int) -> Rows:
    """Decisions as rows of the event file; one that was refused is an error."""
    rows = np.zeros(len(decisions), DTYPE)
    for row, decision in zip(rows, decisions, strict=True):
        at = released_at + int(decision.t * 1e9)
        row["stage"], row["status"] = _CODES[decision.action], ERROR if decision.refused else OK
        row["intended"] = row["start"] = row["end"] = at
    return rows


_CHUNK = 250_000
EVENT_COLUMNS = ("event", "phase", "stage_name", *COLUMNS)


def write_events(rows: Rows, names: Mapping[int, str], path: Path, decisions: Rows | None = None) -> None:
    """One row an event, in the order they were recorded, a policy's decisions last; Parquet or CSV by the name's
    ending. Times in nanoseconds."""
    parts = [rows] if decisions is None else [rows, decisions]
    if path.suffix == ".parquet":
        _parquet(parts, names, path)
    else:
        _csv(parts, names, path)


def _chunks(parts: Sequence[Rows]) -> Iterator[Rows]:
    for rows in parts:
        for first in range(0, len(rows), _CHUNK):
            yield np.asarray(rows[first : first + _CHUNK])


def _words(rows: Rows, names: Mapping[int, str]) -> dict[str, list[str]]:
    kinds = {TEST: "test", PIPELINE: "pipeline", **dict.fromkeys(ACTION_NAMES, "decision")}
    names = {**ACTION_NAMES, **names}
    stages = rows["stage"].tolist()
    return {
        "event": [kinds.get(stage, "stage") for stage in stages],
        "phase": ["warm-up" if query < 0 else "measured" for query in rows["query"].tolist()],
        "stage_name": [names.get(stage, "") for stage in stages],
    }


def _csv(parts: Sequence[Rows], names: Mapping[int, str], path: Path) -> None:
    with open_new(path, newline="") as file:
        writer = csv.writer(file)
        writer.writerow(EVENT_COLUMNS)
        for chunk in _chunks(parts):
            words = _words(chunk, names)
            writer.writerows(zip(*words.values(), *(_column(chunk, name) for name in COLUMNS), strict=True))


def _column(rows: Rows, name: str) -> list[int] | list[str]:
    return (
        ["ok" if value == OK else "error" for value in rows[name].tolist()] if name == "status" else rows[name].tolist()
    )


def _parquet(parts: Sequence[Rows], names: Mapping[int, str], path: Path) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("pyarrow, which writes Parquet,", "loadgen") from None
    word = pa.dictionary(pa.int32(), pa.string())
    texts = {"event", "phase", "stage_name", "status"}
    schema = pa.schema([(name, word if name in texts else pa.int64()) for name in EVENT_COLUMNS])
    with pq.ParquetWriter(path, schema) as writer:
        for chunk in _chunks(parts):
            columns = {**_words(chunk, names), **{name: _column(chunk, name) for name in COLUMNS}}
            writer.write_table(
                pa.table({name: pa.array(columns[name], schema.field(name).type) for name in EVENT_COLUMNS})
            )


MOST = 200_000
"""Rows of a pipeline in a trace: viewers hold no more. The first ones are kept, and the file says so."""


_POLICY = 0
"""The thread of decisions; those of stages come after it."""


@dataclass(frozen=True)
class TraceTrack:
    name: str
    rows: Rows
    stages: Mapping[int, str]
    decisions: Sequence[Decision] = ()
    """What a policy decided of it: marks, and a span for each pause, in a row of their own."""


def write_trace(tracks: Sequence[TraceTrack], path: Path, released_at: int = 0) -> None:
    """`released_at`: what the times of decisions count from, on the monotonic clock in nanoseconds."""
    begin = min((int(track.rows["start"].min()) for track in tracks if len(track.rows)), default=0)
    with open_new(path) as file:
        file.write('{"displayTimeUnit":"ns","traceEvents":[\n')
        file.write(json.dumps({"name": "process_labels", "ph": "M", "pid": 0, "args": {"labels": "assay"}}))
        for number, track in enumerate(tracks, 1):
            _track(file, number, track, begin)
            _decisions(file, number, track, (released_at - begin) / 1e3)
        file.write("\n]}\n")


def _track(file: TextIO, process: int, track: TraceTrack, begin: int) -> None:
    kept = np.asarray(track.rows[:MOST])
    label = (
        track.name if len(kept) == len(track.rows) else f"{track.name} (the first {MOST} of {len(track.rows)} events)"
    )
    _write(file, {"name": "process_name", "ph": "M", "pid": process, "args": {"name": label}})
    for stage, name in {PIPELINE: "queries", **track.stages}.items():
        _write(file, {"name": "thread_name", "ph": "M", "pid": process, "tid": _thread(stage), "args": {"name": name}})
    for query, stage, intended, start, end, first, items, status in kept.tolist():
        if stage == TEST:
            continue
        name = track.stages.get(stage, "query")
        arguments: dict[str, Any] = {"query": query, "late_us": (start - intended) / 1e3}
        if items:
            arguments |= {"items": items, "first_us": (first - start) / 1e3}
        if status != OK:
            arguments["error"] = True
        event = {"name": name, "pid": process, "tid": _thread(stage), "ts": (start - begin) / 1e3, "args": arguments}
        if stage == PIPELINE:
            # Queries overlap when several are in flight, so they are async events: a pair with an id.
            ident = {"cat": "query", "id": f"{process}.{query}"}
            _write(file, {**event, **ident, "ph": "b"})
            _write(file, {**event, **ident, "ph": "e", "ts": (end - begin) / 1e3, "args": {}})
        else:
            _write(file, {**event, "ph": "X", "dur": (end - start) / 1e3})


def _decisions(file: TextIO, process: int, track: TraceTrack, release: float) -> None:
    """`release` in microseconds of the trace."""
    row = {"pid": process, "tid": _POLICY}
    if track.decisions:
        _write(file, {**row, "name": "thread_name", "ph": "M", "args": {"name": "policy"}})
    paused = None
    for decision in track.decisions:
        at = release + decision.t * 1e6
        arguments = {"value": decision.value, "reason": decision.reason, "refused": decision.refused}
        name = f"{decision.action} (refused)" if decision.refused else decision.action
        _write(file, {**row, "name": name, "ph": "i", "s": "p", "ts": at, "args": arguments})
        if decision.refused:
            continue
        if decision.action == "pause":
            paused = at
        elif decision.action == "resume" and paused is not None:
            _write(file, {**row, "name": "paused", "ph": "X", "ts": paused, "dur": at - paused, "args": {}})
            paused = None


def _thread(stage: int) -> int:
    return stage + 2


def _write(file: TextIO, event: dict[str, Any]) -> None:
    file.write(",\n")
    file.write(json.dumps(event))
