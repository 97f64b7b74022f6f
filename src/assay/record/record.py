"""Older records are read for ever: each step below lifts a record from one version to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any

from assay.errors import DataError
from assay.files.checked_fields import Written
from assay.record.environment import Fingerprint, PythonEnvironment, split_workload
from assay.record.metric import Metric, parse_metrics, plain, together
from assay.record.task import TaskPerf


class Outcome(StrEnum):
    """How a run ended. Only PASSED is a success; the record's reasons say the rest in words."""

    PASSED = "passed"
    FAILED = "failed"
    """Exited with another code than 0."""
    CRASHED = "crashed"
    """Ended by a signal that Assay did not send."""
    TIMEOUT = "timeout"
    INVALID = "invalid"
    """Exited 0, but its results are missing, unreadable, or say that it did not succeed."""
    MISSED = "missed"
    """Measured, but a requirement does not hold."""
    NOT_STARTED = "not_started"
    """Its configuration is wrong, or something it needs is not there."""
    SKIPPED = "skipped"
    """An entry it needs did not pass."""
    INTERRUPTED = "interrupted"

    @property
    def words(self) -> str:
        """The outcome as people read it: `not started`."""
        return self.value.replace("_", " ")


@dataclass(frozen=True)
class RequirementResult:
    metric: str
    expected: str
    """What is required, in words: `≥ 1`, `= true`, `no more than 5% worse than 12.3`."""
    actual: Any
    ok: bool
    reason: str = ""
    """Empty where it holds; otherwise names the metric and both values."""
    max_regression: float | None = None
    """Share by which the session may be worse than its baseline. Judged for the session, never for a run."""
    baseline: str | None = None
    """Session that it is compared with; None: the recent level."""
    undecided: str = ""
    """Why the session neither holds nor misses it: `cannot tell`, `nothing to compare with`. Only where it is shown."""

    def to_json(self) -> dict[str, Any]:
        written = asdict(self)
        return {name: value for name, value in written.items() if name not in _OF_GATES or value not in (None, "")}

    @classmethod
    def from_json(cls, written: Written) -> RequirementResult:
        return cls(
            metric=written.text("metric"),
            expected=written.text("expected"),
            actual=written.values.get("actual"),
            ok=written.flag("ok"),
            reason=written.text("reason", ""),
            max_regression=written.number_or_none("max_regression"),
            baseline=written.text_or_none("baseline"),
        )


_OF_GATES = ("max_regression", "baseline", "undecided")
_WHOLE = ("peak_threads", "peak_processes", "samples", "cores")
_WHERE_KNOWN = ("cores", "run_queue_s", "pressure_cpu_s", "pressure_io_s", "pressure_memory_s")


@dataclass(frozen=True)
class Usage:
    """What a run's whole process tree used. What it asked for is a `Resources`."""

    wall_s: float = 0.0
    """Seconds from the start to the end of the last process; `exec_time_s` unless the program left some behind."""
    cpu_s: float = 0.0
    """CPU seconds of every process, from the kernel's accounts: exact, however short the run."""
    cpu_user_s: float = 0.0
    cpu_system_s: float = 0.0
    peak_rss_mb: float = 0.0
    mean_rss_mb: float = 0.0
    read_mb: float = 0.0
    write_mb: float = 0.0
    peak_threads: int = 0
    peak_processes: int = 0
    steal_share: float = 0.0
    """Share of the machine's CPU time during the run that the hypervisor gave to others."""
    neighbour_cpu_s: float = 0.0
    """CPU time that processes outside the run used meanwhile."""
    throttled_s: float = 0.0
    """Time the run's control group was held back by its CPU quota."""
    cores: int | None = None
    """Processors of the machine."""
    run_queue_s: float | None = None
    """Seconds that its threads were ready to run while others had the processors, all together. Left out, like the
    pressures, where the kernel does not tell it."""
    pressure_cpu_s: float | None = None
    """Seconds in which something on the machine waited for a processor (PSI, `some`)."""
    pressure_io_s: float | None = None
    pressure_memory_s: float | None = None
    gpu_peak_memory_mb: float | None = None
    gpu_mean_utilisation: float | None = None
    samples: int = 0
    """Number of samples; 0 for a run that ended before the first, after 25 ms. The sums above do not rest on them."""

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None or name not in _WHERE_KNOWN}

    @classmethod
    def from_json(cls, written: Mapping[str, Any] | Written) -> Usage:
        given = written if isinstance(written, Written) else Written(written)
        there = [f.name for f in fields(cls) if f.name in given]
        values: dict[str, Any] = {name: given.whole(name) if name in _WHOLE else given.number(name) for name in there}
        return cls(**values)


SCHEMA_VERSION = 2


@dataclass(frozen=True)
class Record:
    """Everything known of one run. Written to disk as soon as the run is over."""

    name: str
    """Name of the entry."""
    session: str
    run_id: str
    """`<session>/<entry>/run-01`, with `-retry-1` behind it for a second attempt: unique, and says where to look."""
    outcome: Outcome
    started_at: str
    """ISO 8601, UTC."""
    fingerprint: Fingerprint
    exec_time_s: float = 0.0
    returncode: int | None = None
    command: str = ""
    stdouterr_file: str = ""
    script_params: Mapping[str, Any] = field(default_factory=dict)
    script_metrics: Mapping[str, Any] = field(default_factory=dict)
    """Plain values, also where the program wrote `{value, unit, …}`; `metrics` has them typed."""
    metrics_detail: Mapping[str, Any] = field(default_factory=dict)
    """What a plain value in `script_metrics` does not say, such as its unit, or that it is exact; by metric."""
    tasks: tuple[TaskPerf, ...] = ()
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    requirements: tuple[RequirementResult, ...] = ()
    usage: Usage = Usage()
    repeat: int = 1
    attempt: int = 1
    warmup: bool = False
    superseded: bool = False
    """A failed attempt that was tried again: kept, but not what the entry is judged by."""
    files: Mapping[str, str] = field(default_factory=dict)
    """What to look at, by what it is (`profile`, `usage`), relative to the session folder."""
    git_commit: str | None = None
    reason: str | None = None
    """Why the session was run, as its user said."""
    sink_data: Mapping[str, Any] = field(default_factory=dict)
    canary: bool = False
    """Its code is fixed: what changes in it is the machine."""
    margins: Mapping[str, float] = field(default_factory=dict)
    """Shares below which a change counts as none, by metric; declared in the configuration."""
    unjudged: tuple[str, ...] = ()
    """Metrics that comparisons leave out; declared in the configuration."""
    environment: PythonEnvironment | None = None
    """Python of an entry with an interpreter of its own; None: the session's."""
    host: str = ""
    """Name of the machine it ran on."""
    script: str = ""
    """Digest of the benchmark script, reported where it changes; empty where there is none."""
    schema_version: int = SCHEMA_VERSION

    def __post_init__(self) -> None:
        """Whoever made it, and in whatever form: a reader of `script_metrics` finds plain values."""
        values, details = plain(self.script_metrics, self.metrics_detail)
        object.__setattr__(self, "script_metrics", values)
        object.__setattr__(self, "metrics_detail", details)

    @property
    def success(self) -> bool:
        return self.outcome is Outcome.PASSED

    @property
    def timeout(self) -> bool:
        return self.outcome is Outcome.TIMEOUT

    @property
    def counts(self) -> bool:
        """False for what was run but is not a result: warm-ups and attempts that were repeated."""
        return not (self.warmup or self.superseded)

    @property
    def metrics(self) -> dict[str, Metric]:
        """The program's metrics, what Assay measured of it (`exec_time_s`, `usage.*`) beside them."""
        own = {"exec_time_s": Metric("exec_time_s", self.exec_time_s, unit="s", better="lower")}
        if self.usage.samples or self.usage.wall_s:
            own["usage.cpu_s"] = Metric("usage.cpu_s", self.usage.cpu_s, unit="s", better="lower")
            own["usage.peak_rss_mb"] = Metric("usage.peak_rss_mb", self.usage.peak_rss_mb, unit="MB", better="lower")
        return {**parse_metrics(together(self.script_metrics, self.metrics_detail)), **own}

    def to_json(self, with_tasks: bool = True) -> dict[str, Any]:
        """The record as JSON; the fields of NeMo Curator's benchmarking framework come first. `with_tasks=False` is for
        an index: tasks stay in the run's own file."""
        return {
            "name": self.name,
            "success": self.success,
            "exec_time_s": self.exec_time_s,
            "timeout": self.timeout,
            "script_params": dict(self.script_params),
            "script_metrics": dict(self.script_metrics),
            "tasks": [task.to_json() for task in self.tasks] if with_tasks else [],
            "command": self.command,
            "returncode": self.returncode,
            "stdouterr_file": self.stdouterr_file,
            "session": self.session,
            "run_id": self.run_id,
            "outcome": str(self.outcome),
            "reasons": list(self.reasons),
            "warnings": list(self.warnings),
            "requirements": [requirement.to_json() for requirement in self.requirements],
            "usage": self.usage.to_json(),
            "started_at": self.started_at,
            "fingerprint": self.fingerprint.to_json(),
            "script": self.script,
            "repeat": self.repeat,
            "attempt": self.attempt,
            "warmup": self.warmup,
            "superseded": self.superseded,
            "files": dict(self.files),
            "git_commit": self.git_commit,
            "reason": self.reason,
            "sink_data": dict(self.sink_data),
            "canary": self.canary,
            "margins": dict(self.margins),
            "unjudged": list(self.unjudged),
            "metrics_detail": dict(self.metrics_detail),
            "environment": self.environment.to_json() if self.environment else None,
            "host": self.host,
            "schema_version": self.schema_version,
        }

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> Record:

        current = Written(upgrade(written))
        fingerprint = current.object("fingerprint")
        return cls(
            name=current.text("name"),
            session=current.text("session"),
            run_id=current.text("run_id"),
            outcome=Outcome(current.one_of("outcome", tuple(Outcome))),
            started_at=current.moment("started_at"),
            fingerprint=Fingerprint.from_json(fingerprint),
            exec_time_s=current.number("exec_time_s", 0.0),
            returncode=current.whole_or_none("returncode"),
            command=current.text("command", ""),
            stdouterr_file=current.text("stdouterr_file", ""),
            script_params=current.mapping("script_params"),
            script_metrics=current.mapping("script_metrics"),
            tasks=tuple(TaskPerf.from_json(task.values) for task in current.objects("tasks")),
            reasons=current.texts("reasons"),
            warnings=current.texts("warnings"),
            requirements=tuple(RequirementResult.from_json(item) for item in current.objects("requirements")),
            usage=Usage.from_json(current.object("usage")),
            repeat=current.whole("repeat", 1),
            attempt=current.whole("attempt", 1),
            warmup=current.flag("warmup", False),
            superseded=current.flag("superseded", False),
            files=current.text_mapping("files"),
            git_commit=current.text_or_none("git_commit"),
            reason=current.text_or_none("reason"),
            sink_data=current.mapping("sink_data"),
            canary=current.flag("canary", False),
            margins=current.number_mapping("margins"),
            unjudged=current.texts("unjudged"),
            metrics_detail=current.mapping("metrics_detail"),
            environment=PythonEnvironment.from_json(current.object("environment"))
            if "environment" in current
            else None,
            host=current.text("host", ""),
            script=current.text("script", "") or split_workload(fingerprint.text("workload", ""))[1],
            schema_version=current.whole("schema_version"),
        )


def upgrade(written: Mapping[str, Any]) -> dict[str, Any]:
    record = dict(written)
    version = record.get("schema_version", 1)
    if isinstance(version, bool) or not isinstance(version, int) or not 1 <= version <= SCHEMA_VERSION:
        raise DataError(
            f"record {record.get('name')!r} has schema version {version!r}; this Assay reads 1 to {SCHEMA_VERSION}"
        )
    while version < SCHEMA_VERSION:
        record = _STEPS[version](record)
        version += 1
    return record


def _from_1(record: dict[str, Any]) -> dict[str, Any]:
    """The ten fields the older framework wrote: no outcome, no session, no fingerprint."""
    if record.get("timeout"):
        outcome = "timeout"
    else:
        outcome = "passed" if record.get("success") else "failed"
    name = str(record.get("name", "unnamed"))
    session = str(record.get("session", "imported"))
    return {
        "outcome": outcome,
        "session": session,
        "run_id": f"{session}/{name}/run-01",
        "started_at": "1970-01-01T00:00:00+00:00",
        "fingerprint": {"entry": name},
        **record,
        "name": name,
        "tasks": [],
        "schema_version": 2,
    }


_STEPS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _from_1}
