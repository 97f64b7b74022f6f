from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.record.metric import Metric, parse_metrics
from assay.record.metrics_files import plain, together
from assay.record.outcome import Outcome
from assay.record.requirement_result import RequirementResult
from assay.record.surroundings.fingerprint import Fingerprint
from assay.record.surroundings.python_environment import PythonEnvironment
from assay.record.task_perf import TaskPerf
from assay.record.usage import Usage
from assay.untrusted.written import Written

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
        from assay.record.schema import upgrade

        current = Written(upgrade(written))
        return cls(
            name=current.text("name"),
            session=current.text("session"),
            run_id=current.text("run_id"),
            outcome=Outcome(current.one_of("outcome", tuple(Outcome))),
            started_at=current.moment("started_at"),
            fingerprint=Fingerprint.from_json(current.object("fingerprint")),
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
            schema_version=current.whole("schema_version"),
        )
