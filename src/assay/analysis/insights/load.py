"""Load past the knee: latency that rises out of proportion, or work that is not kept up with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from assay.analysis.insights.insight import EntryRuns, Insight
from assay.analysis.knee import BEHIND, KNEE
from assay.analysis.sentences import insight_sentences as said

_LOADS = ("rate", "asked_rate", "offered", "offered_rate", "load", "concurrency")
_LATENCIES = ("p99", "p99_s", "p99_ms", "p95", "p95_s", "p95_ms", "p50")
_DONE = ("throughput", "completed_rate", "achieved", "achieved_rate")


def past_the_knee(entry: EntryRuns) -> Iterator[Insight]:
    for name, metric in entry.metrics.items():
        if isinstance(metric.value, list) and len(metric.value) >= 3:
            yield from _curve(entry.name, name, metric.value)
    for name, asked in entry.ending("offered_rate"):
        done = entry.number(f"{name}throughput")
        if done is not None and 0 < done < BEHIND * asked:
            yield _behind(entry.name, name.rstrip("._"), asked, done)


def _curve(entry: str, name: str, rows: Sequence[Any]) -> Iterator[Insight]:
    if not all(isinstance(row, Mapping) for row in rows):
        return
    load, latency = _common(rows, _LOADS), _common(rows, _LATENCIES)
    if load is None or latency is None:
        return
    ordered = sorted(rows, key=lambda row: float(row[load]))
    lowest = float(ordered[0][latency])
    done = _common(rows, _DONE)
    asked = _rate_asked(ordered[0], load)
    if done is not None and load != "concurrency" and float(ordered[0][done]) < BEHIND * asked:
        # Past the knee from the first: no load that was measured may be advised.
        at = f"{name} at {load} {ordered[0][load]:g}, the lowest measured,"
        yield _behind(entry, at, asked, float(ordered[0][done]))
        return
    for before, row in pairwise(ordered):
        late = lowest > 0 and float(row[latency]) > KNEE * lowest
        behind = done is not None and load != "concurrency" and float(row[done]) < BEHIND * _rate_asked(row, load)
        if late or behind:
            short = f"{row[done]:.3g} of {_rate_asked(row, load):.3g} a second at {row[load]:g}; " if behind else ""
            knee = float(before[load])
            highest = float(ordered[-1][load])
            yield Insight(
                "load", entry, *said.knee(
                    name, load, knee, highest,
                    f"{short}{latency} {lowest:.3g} at {ordered[0][load]:g}, {row[latency]:.3g} at {row[load]:g}",
                ),
                numbers={"knee": knee, "highest": highest, "lowest_latency": lowest, "latency": float(row[latency])},
            )  # fmt: skip
            return


def _rate_asked(row: Mapping[str, Any], load: str) -> float:
    """What the schedule asked for; a drawn one asks for a little more or less than its rate."""
    return float(row["offered"] if load == "rate" and _number(row.get("offered")) else row[load])


def _behind(entry: str, name: str, asked: float, done: float) -> Insight:
    return Insight(
        "load", entry, *said.falls_behind(name, asked, done),
        numbers={"asked": asked, "done": done},
    )  # fmt: skip


def _common(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str | None:
    return next((name for name in names if all(_number(row.get(name)) for row in rows)), None)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
