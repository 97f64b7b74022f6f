"""The Chrome trace-event format, which Perfetto and chrome://tracing open.

(Trace Event Format, Google, 2016.) A process a pipeline; a thread a stage, plus one for the queries whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from assay.loadgen.board import OK, PIPELINE, TEST
from assay.loadgen.colocation.policies.decision import Decision
from assay.loadgen.recording.spool import Rows
from assay.untrusted.writing import open_new

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
