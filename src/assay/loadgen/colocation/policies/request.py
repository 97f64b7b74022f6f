from __future__ import annotations

from dataclasses import dataclass

from assay.loadgen.colocation.config import LimitsConfig
from assay.loadgen.colocation.policies.decision import Action


@dataclass(frozen=True)
class Request:
    """One thing that a policy asks for."""

    pipeline: str
    action: Action
    reason: str
    seconds: float | None = None
    """Length of a delay; None: until it is started."""
    cpus: tuple[int, ...] | None = None
    device: str | None = None
    limits: LimitsConfig | None = None

    @property
    def value(self) -> str:
        """What is asked for beside the action, in words for people."""
        words = []
        if self.action == "delay":
            words.append("until it is started" if self.seconds is None else f"{self.seconds:g} s")
        if self.cpus is not None:
            words.append("cpus " + ",".join(map(str, self.cpus)))
        if self.device is not None:
            words.append(f"device {self.device}")
        if self.limits is not None:
            given = self.limits.model_dump(exclude_none=True)
            words += [f"{name} {value:g}" for name, value in given.items()]
        return ", ".join(words)

    def merge_limits(self, before: LimitsConfig | None) -> LimitsConfig:
        """The limits that will hold: those asked for, and for a limit that was not named the one there was."""
        old = {} if before is None else before.model_dump(exclude_none=True)
        new = {} if self.limits is None else self.limits.model_dump(exclude_none=True)
        return LimitsConfig.model_validate({**old, **new})
