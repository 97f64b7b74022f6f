from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Action = Literal["start", "delay", "pause", "resume", "place", "resize"]


@dataclass(frozen=True)
class Decision:
    """One thing a policy asked for, and what became of it."""

    t: float
    """Seconds from the release of the run; 0 for what was decided before it."""
    pipeline: str
    action: Action
    value: str
    """What was asked for beside the action (`cpus 0,1`, `2 s`); empty where the action says it all."""
    reason: str
    """The policy's own words."""
    refused: str = ""
    """Why it was not done; empty when it was."""

    def to_json(self) -> dict[str, Any]:
        return {
            "t": self.t,
            "pipeline": self.pipeline,
            "action": self.action,
            "value": self.value,
            "reason": self.reason,
            "refused": self.refused,
        }
