from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from assay.untrusted.written import Written


@dataclass(frozen=True)
class RequirementResult:
    metric: str
    expected: str
    """What is required, in words: `≥ 1`, `= true`, `no more than 5% worse than 12.3`."""
    actual: Any
    ok: bool
    reason: str = ""
    """Empty where it holds; otherwise names the metric and both values."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, written: Written) -> RequirementResult:
        return cls(
            metric=written.text("metric"),
            expected=written.text("expected"),
            actual=written.values.get("actual"),
            ok=written.flag("ok"),
            reason=written.text("reason", ""),
        )
