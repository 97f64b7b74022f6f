"""A session as a person looks at it: entries, their runs summed up. Terminal, HTML, Markdown and dashboard show it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from assay.analysis.verdict import GateResult, Result, overall, read_verdict
from assay.record import Environment, Metric, Outcome, Record, RequirementResult, SessionFolder, SessionInfo
from assay.record.jobs import Jobs
from assay.record.metric import Better
from assay.record.task import is_task_metric

_WORST = (
    Outcome.CRASHED, Outcome.FAILED, Outcome.TIMEOUT, Outcome.INVALID, Outcome.NOT_STARTED, Outcome.MISSED,
    Outcome.INTERRUPTED, Outcome.SKIPPED, Outcome.PASSED,
)  # fmt: skip
MEASURED = (Outcome.PASSED, Outcome.MISSED)


@dataclass(frozen=True)
class MetricView:
    name: str
    value: Any
    """The median over the runs where it is a number."""
    unit: str | None
    better: Better | None
    values: tuple[float, ...]
    """One a run."""
    samples: tuple[float, ...]
    """What the program measured within its runs, as far as it is finite."""

    @property
    def low(self) -> float | None:
        return min(self.values) if len(self.values) > 1 else None

    @property
    def high(self) -> float | None:
        return max(self.values) if len(self.values) > 1 else None


@dataclass(frozen=True)
class EntryView:
    name: str
    runs: tuple[Record, ...]
    """All of them, warm-ups and repeated attempts included, in the order they ran."""
    gates: tuple[GateResult, ...] = ()
    """What the session is held to, its level against earlier ones; judged when all runs are over."""

    @property
    def counted(self) -> tuple[Record, ...]:
        return tuple(run for run in self.runs if run.counts)

    @property
    def measured(self) -> tuple[Record, ...]:
        return tuple(run for run in self.counted if run.outcome in MEASURED)

    @property
    def outcome(self) -> Outcome | None:
        """The worst of its runs, or that the session missed a gate; None before the first has ended."""
        outcomes = {run.outcome for run in self.counted or self.runs}
        if self.gate == "fail":
            outcomes.add(Outcome.MISSED)
        return next((outcome for outcome in _WORST if outcome in outcomes), None)

    @property
    def outcome_words(self) -> str:
        return self.outcome.words if self.outcome is not None else "waiting"

    @property
    def passed(self) -> bool:
        return self.outcome is Outcome.PASSED

    @property
    def gate(self) -> Result | None:
        """The gravest of its gates; None where it has none."""
        return overall([gate.result for gate in self.gates]) if self.gates else None

    @property
    def undecided(self) -> str:
        """Why a gate of it is neither passed nor missed, in a word or two; empty where each is one of them."""
        words = {"cannot tell": "can't tell", "nothing to compare with": "no baseline"}
        return words.get(self.gate or "", "") if self.passed else ""

    @property
    def exec_time_s(self) -> float:
        times = [run.exec_time_s for run in self.counted]
        return median(times) if times else 0.0

    @property
    def peak_rss_mb(self) -> float:
        return max((run.usage.peak_rss_mb for run in self.counted), default=0.0)

    @property
    def reasons(self) -> tuple[str, ...]:
        missed = (gate.reason_line for gate in self.gates if gate.result == "fail")
        return tuple(dict.fromkeys([*(reason for run in self.counted for reason in run.reasons), *missed]))

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(warning for run in self.runs for warning in run.warnings))

    @property
    def requirements(self) -> tuple[RequirementResult, ...]:
        """Results by requirement: one that fails, if it fails in any run."""
        found: dict[tuple[str, str], RequirementResult] = {}
        for run in self.counted:
            for result in run.requirements:
                known = found.get((result.metric, result.expected))
                if known is None or (known.ok and not result.ok):
                    found[result.metric, result.expected] = result
        results = [self._judged(result) for result in found.values()]
        exact = [
            RequirementResult(gate.metric, gate.expected, gate.value, False, gate.reason_line)
            for gate in self.gates
            if gate.limit is None
        ]
        return (*exact, *results)

    def _judged(self, result: RequirementResult) -> RequirementResult:
        """What a run only noted, as it was judged for the session."""
        if result.max_regression is None or not result.ok:
            return result
        gate = next(
            (one for one in self.gates if (one.metric, one.limit) == (result.metric, result.max_regression)), None
        )
        if gate is None:
            return replace(result, undecided="nothing to compare with")
        undecided = gate.result if gate.result in ("cannot tell", "nothing to compare with") else ""
        return replace(
            result, actual=gate.value, ok=gate.result != "fail", reason=gate.reason_line, undecided=undecided
        )

    @property
    def shown(self) -> Record | None:
        """The run whose log and charts stand for the entry: the first that failed, otherwise the last."""
        failed = [run for run in self.counted if not run.success]
        return next(iter([*failed, *self.counted[-1:], *self.runs[-1:]]), None)

    def metrics(self) -> tuple[MetricView, ...]:
        by_name: dict[str, list[Metric]] = {}
        for run in self.measured or self.counted:
            for metric in run.metrics.values():
                by_name.setdefault(metric.name, []).append(metric)
        return tuple(_sum_up(name, metrics) for name, metrics in by_name.items())

    def headline(self, most: int = 3) -> tuple[MetricView, ...]:
        """What to show where there is room for little: what is required, then what has a direction."""
        metrics = {m.name: m for m in self.metrics() if m.name not in ("is_success", "exec_time_s")}
        required = [metrics[r.metric] for r in self.requirements if r.metric in metrics]
        own = [
            m
            for m in metrics.values()
            if not (m.name.startswith("usage.") or is_task_metric(m.name)) and (m.values or isinstance(m.value, str))
        ]
        ordered = [*required, *(m for m in own if m.better), *(m for m in own if m.unit), *own]
        return tuple({m.name: m for m in ordered}.values())[:most]


@dataclass(frozen=True)
class SessionView:
    info: SessionInfo
    environment: Environment
    entries: tuple[EntryView, ...]
    missing: tuple[str, ...] = ()
    """What a session that jobs join still waits for, in words, one an entry; none once it is finished."""

    @classmethod
    def of(cls, folder: SessionFolder) -> SessionView:
        info = folder.info()
        verdict = read_verdict(folder.path)
        view = cls.build(info, folder.environment(), folder.records(), verdict.gates if verdict is not None else ())
        if not info.joined or info.status != "running":
            return view
        return replace(view, missing=tuple(entry.words for entry in Jobs(folder.path).open_entries()))

    @classmethod
    def build(
        cls, info: SessionInfo, environment: Environment, records: Sequence[Record], gates: Sequence[GateResult] = ()
    ) -> SessionView:
        names = dict.fromkeys([*info.planned, *(record.name for record in records)])
        entries = [
            EntryView(
                name,
                tuple(record for record in records if record.name == name),
                tuple(gate for gate in gates if gate.entry == name),
            )
            for name in names
        ]
        return cls(info, environment, tuple(entries))

    @property
    def ended(self) -> tuple[EntryView, ...]:
        return tuple(entry for entry in self.entries if entry.outcome is not None)

    @property
    def failed(self) -> tuple[EntryView, ...]:
        return tuple(entry for entry in self.ended if not entry.passed)

    @property
    def waiting(self) -> tuple[EntryView, ...]:
        return tuple(entry for entry in self.entries if entry.outcome is None)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Machines that its runs were on, as far as records say."""
        return tuple(dict.fromkeys(run.host for entry in self.entries for run in entry.runs if run.host))

    @property
    def viewer(self) -> str | None:
        """Where the session can be looked at, if that is an address a page may link to."""
        url = self.info.viewer_url
        return url if url is not None and url.lower().startswith(("http://", "https://")) else None

    @property
    def seconds(self) -> float:
        from datetime import datetime

        if self.info.finished_at:
            begun = datetime.fromisoformat(self.info.started_at)
            return (datetime.fromisoformat(self.info.finished_at) - begun).total_seconds()
        return math.fsum(run.exec_time_s for entry in self.entries for run in entry.runs)

    def counts(self) -> str:
        """`4 entries: 2 passed, 1 failed, 1 waiting`."""
        words: dict[str, int] = {}
        for entry in self.entries:
            word = entry.outcome_words
            words[word] = words.get(word, 0) + 1
        ordered = sorted(words.items(), key=lambda item: (item[0] != "passed", item[0]))
        total = f"{len(self.entries)} {'entry' if len(self.entries) == 1 else 'entries'}"
        return f"{total}: {', '.join(f'{count} {word}' for word, count in ordered)}" if ordered else "no entries"


def _sum_up(name: str, metrics: Sequence[Metric]) -> MetricView:
    numbers = tuple(m.number for m in metrics if m.number is not None)
    finite = [value for value in numbers if math.isfinite(value)]
    last = metrics[-1]
    value = median(finite) if len(finite) == len(metrics) and finite else last.value
    samples = tuple(sample for metric in metrics for sample in metric.samples if math.isfinite(sample))
    return MetricView(name, value, last.unit, last.better, tuple(finite), samples)
