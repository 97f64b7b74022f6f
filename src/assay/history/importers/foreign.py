from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import median
from typing import Any, Literal

from assay.files.json_text import shorten
from assay.record import Environment, Fingerprint, Outcome, Record, SessionInfo
from assay.record.environment import digest

METRIC = "time_s"
_LONGEST_S = 1e12
"""Thirty thousand years: what is longer was never measured, and sums of it stay finite."""


class MalformedForeign(Exception):
    """The file is of a known tool, but not as that tool writes it."""


@dataclass(frozen=True)
class Timed:
    """One benchmark of another tool: how long its repetitions took."""

    name: str
    seconds: tuple[float, ...]
    started_at: str
    command: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    outcome: Outcome = Outcome.PASSED
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class ForeignSession:
    info: SessionInfo
    environment: Environment
    records: tuple[Record, ...]

    @classmethod
    def build(cls, name: str, tool: str, environment: Environment, timed: Iterable[Timed]) -> ForeignSession:
        benchmarks = _name_apart(list(timed))
        return cls.of(name, tool, environment, (_record(one, name, tool, environment) for one in benchmarks))

    @classmethod
    def of(cls, name: str, tool: str, environment: Environment, made: Iterable[Record]) -> ForeignSession:
        records = tuple(made)
        if not records:
            raise MalformedForeign("it holds no benchmark")
        moments = [record.started_at for record in records]
        info = SessionInfo(
            name=name, started_at=min(moments), finished_at=max(moments), status="finished",
            reason=f"imported from {tool}", planned=tuple(record.name for record in records),
            kind="import",
        )  # fmt: skip
        return cls(info, environment, records)


def _record(one: Timed, session: str, tool: str, environment: Environment) -> Record:
    metric = {"value": median(one.seconds), "unit": "s", "better": "lower", "samples": list(one.seconds)}
    return Record(
        name=one.name,
        session=session,
        run_id=f"{session}/{one.name}/run-01",
        outcome=one.outcome,
        started_at=one.started_at,
        fingerprint=Fingerprint(one.name, digest(dict(one.params)), tool, environment.machine_class),
        exec_time_s=sum(one.seconds),
        command=one.command,
        script_params=dict(one.params),
        script_metrics={METRIC: metric, **one.extra},
        reasons=one.reasons,
        git_commit=environment.git_commit,
    )


def _name_apart(timed: list[Timed]) -> list[Timed]:
    """Two benchmarks of one name would be one run: the later ones get a number."""
    from dataclasses import replace

    seen: dict[str, int] = {}
    apart = []
    for one in timed:
        seen[one.name] = seen.get(one.name, 0) + 1
        apart.append(one if seen[one.name] == 1 else replace(one, name=f"{one.name} #{seen[one.name]}"))
    return apart


def seconds(written: Any, where: str) -> tuple[float, ...]:
    """Refuses what is not a list of numbers: a time that is not one would poison a series."""
    if not isinstance(written, list) or not written:
        raise MalformedForeign(f"{where} is not a list of times")
    for value in written:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _LONGEST_S:
            raise MalformedForeign(f"{where} holds {shorten(repr(value), 60)}, which is not a time")
    return tuple(float(value) for value in written)


def utc(written: Any, otherwise: str) -> str:
    try:
        parsed = datetime.fromisoformat(str(written))
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    except (ValueError, OverflowError):
        return otherwise


def mapping(written: Any) -> Mapping[str, Any]:
    return written if isinstance(written, Mapping) else {}


def cores(written: Any) -> int:
    """0 where the file does not tell."""
    return written if isinstance(written, int) and 0 < written < 2**31 else 0


def text(written: Any) -> str:
    return "" if written is None else str(written)


_LARGEST = 1e15
PERCENTILES = ("p50", "p90", "p95", "p99")


@dataclass
class ForeignLoad:
    """One load that another tool has put on a server. Metrics are added to it one by one."""

    tool: str
    name: str
    started_at: str
    duration_s: float = 0.0
    command: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    metrics: dict[str, Any] = field(default_factory=dict)

    def add(
        self, name: str, written: Any, where: str, unit: str = "", better: Literal["higher", "lower", ""] = "",
        scale: float = 1.0,
    ) -> None:  # fmt: skip
        """What the file does not have is left out; what is no number of 0 or more there is refused."""
        if written is None:
            return
        value = count(written, where) * scale
        detail = {"value": value, "unit": unit or None, "better": better or None}
        self.metrics[f"{self.tool}_{name}"] = {key: item for key, item in detail.items() if item is not None}

    def record(self, session: str, environment: Environment) -> Record:
        """Requests that failed are told by a metric of the tool's; a load of which none was answered has failed."""
        failed = self._value("requests") == 0
        return Record(
            name=self.name,
            session=session,
            run_id=f"{session}/{self.name}/run-01",
            outcome=Outcome.FAILED if failed else Outcome.PASSED,
            started_at=self.started_at,
            fingerprint=Fingerprint(self.name, digest(dict(self.params)), self.tool, environment.machine_class),
            exec_time_s=self.duration_s,
            command=self.command,
            script_params=dict(self.params),
            script_metrics=self.metrics,
            reasons=("no request was answered",) if failed else (),
            git_commit=environment.git_commit,
        )

    def _value(self, name: str) -> float | None:
        found = self.metrics.get(f"{self.tool}_{name}")
        return None if found is None else float(found["value"])


def number(written: Any, where: str) -> float:
    if isinstance(written, bool) or not isinstance(written, int | float) or not -_LARGEST < written < _LARGEST:
        raise MalformedForeign(f"{where} is {shorten(repr(written), 60)}, which is not a number")
    return float(written)


def count(written: Any, where: str) -> float:
    """A number that must not be below 0: of requests, of tokens, of a duration's seconds."""
    value = number(written, where)
    if value < 0:
        raise MalformedForeign(f"{where} is {value:g}, which is below 0")
    return value


def plain_params(**values: Any) -> dict[str, Any]:
    """Settings that are plain values; all others, and what is not there, are left out."""
    plain = {key: value for key, value in values.items() if isinstance(value, str | int | float | bool)}
    return {key: shorten(value, 200) if isinstance(value, str) else value for key, value in plain.items()}
