from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from assay.history.foreign.foreign_session import MalformedForeign
from assay.record import Environment, Fingerprint, Outcome, Record
from assay.record.surroundings.fingerprint import digest
from assay.record.writing.shortened import shorten

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
