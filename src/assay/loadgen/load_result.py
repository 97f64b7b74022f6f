from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from assay.loadgen.driver.ending import Ending
from assay.loadgen.latency import Latency, Objective, Of, Validity, good, judge
from assay.loadgen.schedulers.scheduler import LoadScheduler
from assay.loadgen.shared_counters import (
    COMPLETED,
    CPU_NS,
    CUT,
    DROPPED,
    ENDED_AT,
    FAILED,
    HELD,
    IGNORED,
    OK,
    PIPELINE,
    SENT,
    STARTED_AT,
    TEST,
    Board,
)
from assay.record.metric import Metric

if TYPE_CHECKING:
    from assay.loadgen.trace_file import Rows


MOST_SAMPLES = 2000


@dataclass(frozen=True)
class StageReport:
    """What a stage says of itself, beside the times that were taken of it."""

    metrics: tuple[Metric, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def joined(cls, workers: Sequence[Self]) -> StageReport:
        """One for all workers of a stage: figures of several are told apart by the worker's number."""
        notes = tuple(dict.fromkeys(note for one in workers for note in one.notes))
        if len(workers) == 1:
            return StageReport(workers[0].metrics, notes)
        named = (
            Metric(f"worker_{n}.{m.name}", m.value, m.unit, m.better, m.samples, m.exact)
            for n, one in enumerate(workers)
            for m in one.metrics
        )
        return StageReport(tuple(named), notes)

    def to_json(self) -> dict[str, Any]:
        return {"metrics": {m.name: _thin(m).to_json() for m in self.metrics}, "notes": list(self.notes)}

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> StageReport:
        metrics = tuple(Metric.parse(name, value) for name, value in written["metrics"].items())
        return StageReport(metrics, tuple(written["notes"]))


def _thin(metric: Metric) -> Metric:
    """The metric with every n-th sample only, in order: files that are kept for ever must be small."""
    step = -(-len(metric.samples) // MOST_SAMPLES) or 1
    return Metric(metric.name, metric.value, metric.unit, metric.better, metric.samples[::step], metric.exact)


Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Measured:
    """The rows of the measured part, looked at from different sides. Times are nanoseconds."""

    rows: Rows

    @classmethod
    def of(cls, rows: Rows) -> Measured:
        return cls(rows[(rows["query"] >= 0) & (rows["stage"] != TEST)])

    @cached_property
    def _pipeline(self) -> Rows:
        return np.asarray(self.rows[self.rows["stage"] == PIPELINE])

    @property
    def sends(self) -> Rows:
        """A row a query, answered or failed."""
        return self._pipeline

    @cached_property
    def queries(self) -> Rows:
        """Queries that were answered, in the order in which they ended."""
        rows = self._pipeline
        rows = rows[rows["status"] == OK]
        return np.asarray(rows[np.argsort(rows["end"], kind="stable")])

    @property
    def latency(self) -> Ints:
        return np.asarray(self.queries["end"] - self.queries["intended"])

    @property
    def from_send(self) -> Ints:
        return np.asarray(self.queries["end"] - self.queries["start"])

    @property
    def lateness(self) -> Ints:
        return np.asarray(self._pipeline["start"] - self._pipeline["intended"])

    def stage(self, stage: int) -> Ints:
        rows = self.rows[(self.rows["stage"] == stage) & (self.rows["status"] == OK)]
        return np.asarray(rows["end"] - rows["start"])

    def stream_times(self) -> dict[Of, Ints]:
        """Per answered query: latency, time to its first streamed result, time between its items; -1 without any."""
        order = self.queries["query"]
        rows = self.rows[self.rows["first"] > 0]
        first = np.full(len(order), -1, np.int64)
        gap = np.full(len(order), -1, np.int64)
        if len(rows) and len(order):
            # A query may stream in several stages; the last of them is what its user sees.
            rows = rows[np.argsort(rows["end"], kind="stable")]
            sorter = np.argsort(order, kind="stable")
            at = np.searchsorted(order, rows["query"], sorter=sorter)
            known = at < len(order)
            at, rows = sorter[at[known]], rows[known]
            same = order[at] == rows["query"]
            at, rows = at[same], rows[same]
            first[at] = rows["first"] - rows["intended"]
            gap[at] = (rows["end"] - rows["first"]) // np.maximum(rows["items"] - 1, 1)
        return {"latency": self.latency, "first_result": first, "per_item": gap}

    def groups(self, size: int) -> Ints:
        """Latencies of groups of `size` queries (multi-stream): that of a group's slowest query."""
        group = self.queries["query"] // size
        slowest = np.zeros(int(group.max()) + 1 if len(group) else 0, np.int64)
        np.maximum.at(slowest, group, self.latency)
        return slowest

    def over_depth(self, depth: int) -> int:
        """How many queries found `depth` others in flight when they were to be sent."""
        intended = np.sort(self._pipeline["intended"])
        ended = np.sort(self._pipeline["end"])
        in_flight = np.arange(len(intended)) - np.searchsorted(ended, intended, side="right")
        return int(np.count_nonzero(in_flight >= depth))


@dataclass(frozen=True)
class StageTimes:
    name: str
    latency: Latency
    share: float
    """Share of all the time spent in stages that are recorded."""
    recorded: bool = True
    """False: it ran, and `disable_logs` kept its times from being taken."""


@dataclass(frozen=True)
class LoadResult:
    """What one pipeline did under load."""

    ending: Ending
    asked_rate: float | None
    started_at: int
    duration: float
    """Seconds from the start to the last answer."""
    sent: int
    completed: int
    failed: int
    achieved_rate: float
    """Queries sent a second, over the time it took to send them."""
    throughput: float
    """Queries answered a second."""
    latency: Latency
    """Latency from the intended send: what a user who came at that time waited."""
    latency_from_send: Latency
    lateness: Latency
    stages: Mapping[int, StageTimes]
    first_result: Latency | None
    per_item: Latency | None
    group_latency: Latency | None
    held_back: int
    dropped_events: int
    cut_cycles: int
    ignored_branches: int
    cpu_s: float
    verdict: Validity
    reports: Mapping[int, StageReport]
    """What stages say of themselves, by id: a loss, an accuracy, a device they did not get."""
    measured: Measured = field(repr=False)
    notes: tuple[str, ...] = ()
    """What a person must know of the run as a whole."""

    @property
    def warnings(self) -> list[str]:
        found = []
        if self.held_back:
            found.append(
                f"{self.held_back} of {self.sent} sends were held back by the bound of queries in flight (queue_depth, "
                "serialize_queries): they were late, and it counts"
            )
        if self.dropped_events:
            found.append(f"the recorder dropped {self.dropped_events} events: percentiles are of the others")
        if self.cut_cycles:
            found.append(f"max_visits turned queries away {self.cut_cycles} times")
        if self.failed:
            found.append(f"{self.failed} queries failed")
        if silent := [f"{id} ({stage.name})" for id, stage in self.stages.items() if not stage.recorded]:
            found.append(f"disable_logs: the time of stage {', '.join(silent)} is in no stage's")
        found += self.notes
        for stage, report in self.reports.items():
            found += [f"stage {stage} ({self.stages[stage].name}): {note}" for note in report.notes]
        return found

    def to_json(self) -> dict[str, Any]:
        optional = {"first_result": self.first_result, "per_item": self.per_item, "group_latency": self.group_latency}
        return {
            "ending": self.ending.to_json(),
            "valid": self.verdict.valid,
            "reasons": self.verdict.reasons,
            "asked_rate": self.asked_rate,
            "achieved_rate": self.achieved_rate,
            "throughput": self.throughput,
            "goodput": self.verdict.goodput,
            "duration_s": self.duration,
            "sent": self.sent,
            "completed": self.completed,
            "failed": self.failed,
            "held_back": self.held_back,
            "dropped_events": self.dropped_events,
            "cut_cycles": self.cut_cycles,
            "ignored_branches": self.ignored_branches,
            "cpu_s": self.cpu_s,
            "latency": self.latency.to_json(),
            "latency_from_send": self.latency_from_send.to_json(),
            "lateness": self.lateness.to_json(),
            **{name: value.to_json() for name, value in optional.items() if value is not None},
            "stages": [
                {
                    "id": id,
                    "name": stage.name,
                    "recorded": stage.recorded,
                    "share": stage.share,
                    **stage.latency.to_json(),
                    **({"report": self.reports[id].to_json()} if id in self.reports else {}),
                }
                for id, stage in self.stages.items()
            ],
            "warnings": self.warnings,
        }


def summarise(
    rows: Rows,
    board: Board,
    ending: Ending,
    names: Mapping[int, str],
    scheduler: LoadScheduler,
    queue_depth: int | None,
    objectives: Sequence[Objective] = (),
    reports: Mapping[int, StageReport] | None = None,
    silent: Collection[int] = (),
    notes: Sequence[str] = (),
) -> LoadResult:
    """`silent`: ids of stages of which no rows are written."""
    measured = Measured.of(rows)
    page = board.page
    queries = measured.queries
    dropped = int(page[DROPPED])
    started = page[STARTED_AT]
    ended = int(queries["end"][-1]) if len(queries) else max(page[ENDED_AT], started)
    duration = max((ended - started) / 1e9, 0.0)
    # A closed loop does not count every send as it happens; but what came back must have been sent.
    sent = max(int(page[SENT]), int(page[COMPLETED] + page[FAILED]))
    last_sent = int(measured.rows["start"].max()) if len(measured.rows) else started
    streamed = measured.stream_times()
    lost = max(sent - len(queries) - dropped, 0)
    judged = tuple(judge(objective, _having(streamed[objective.of]), lost) for objective in objectives)
    met = int(np.count_nonzero(good(objectives, streamed)))
    spent = {stage: measured.stage(stage) for stage in names}
    total = sum(int(times.sum()) for times in spent.values()) or 1
    held = int(page[HELD])
    if queue_depth is not None and scheduler.concurrency is None and not held:
        held = measured.over_depth(queue_depth)
    elif queue_depth is not None and scheduler.concurrency is not None and queue_depth < scheduler.concurrency:
        held = max(sent - queue_depth, 0)
    return LoadResult(
        ending=ending,
        asked_rate=scheduler.rate,
        started_at=started,
        duration=duration,
        sent=sent,
        completed=len(queries),
        failed=int(page[FAILED]),
        achieved_rate=sent / ((last_sent - started) / 1e9) if last_sent > started else 0.0,
        throughput=len(queries) / duration if duration else 0.0,
        latency=Latency.of(measured.latency),
        latency_from_send=Latency.of(measured.from_send),
        lateness=Latency.of(measured.lateness),
        stages={
            stage: StageTimes(names[stage], Latency.of(times), int(times.sum()) / total, stage not in silent)
            for stage, times in spent.items()
        },
        first_result=_optional(streamed["first_result"]),
        per_item=_optional(streamed["per_item"]),
        group_latency=Latency.of(measured.groups(scheduler.concurrency or 1)) if scheduler.grouped else None,
        held_back=held,
        dropped_events=dropped,
        cut_cycles=int(page[CUT]),
        ignored_branches=int(page[IGNORED]),
        cpu_s=page[CPU_NS] / 1e9,
        verdict=Validity(judged, () if ending.success else (ending.reason,), met / duration if duration else 0.0),
        reports=reports or {},
        measured=measured,
        notes=tuple(notes),
    )


def _having(values: Ints) -> Ints:
    return values[values >= 0]


def _optional(values: Ints) -> Latency | None:
    having = _having(values)
    return Latency.of(having) if len(having) else None
