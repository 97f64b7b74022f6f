from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class RequirementResult:
    metric: str
    expected: str
    """In words: `≥ 1`, `= true`, `no more than 5% worse than 12.3`."""
    actual: Any
    ok: bool
    reason: str = ""
    """Empty where it holds; otherwise names the metric and both values."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, written: dict[str, Any]) -> RequirementResult:
        return cls(
            metric=str(written["metric"]),
            expected=str(written["expected"]),
            actual=written.get("actual"),
            ok=bool(written["ok"]),
            reason=str(written.get("reason", "")),
        )
