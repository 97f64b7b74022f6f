from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from assay.process.gpus.gpu_watch_spec import GpuWatchSpec


@dataclass(frozen=True)
class CompanionSpec:
    name: str
    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    log: Path
    ready: str
    """Text in its output that says it can be used."""
    timeout_s: float = 60.0
    attempts: int = 3


@dataclass(frozen=True)
class ProcessSpec:
    """What to run and within which limits."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    stdout: Path
    stderr: Path
    combined: Path
    usage_csv: Path | None = None
    timeout_s: float | None = None
    grace_s: float = 5.0
    sample_hz: float = 10.0
    cpus: Sequence[int] = ()
    """Processors it may use; none given: all."""
    memory_mb: float | None = None
    nice: int = 0
    freezer: Path | None = None
    """File that freezes its control group; the group is thawed before the tree is ended."""
    namespace: bool = False
    """Its own network (only `lo`) and process namespace."""
    companion: CompanionSpec | None = field(default=None)
    gpus: GpuWatchSpec | None = None
    mask: Sequence[tuple[bytes, bytes]] = ()
    """What is replaced in its output before that is written, and by what; longest first."""
    shapes: Mapping[str, Any] | None = None
    """Patterns of what is replaced by `***`: `token`, which begins with one of `starts`; `address`, which begins with
    `://`; and `marks`, pairs of a text to look for and the pattern that must match there. All are bytes."""

    def with_variable(self, variable: str, value: str) -> ProcessSpec:
        """The specification with one more variable for the program and its companion."""
        companion = self.companion and replace(self.companion, env={**self.companion.env, variable: value})
        return replace(self, env={**self.env, variable: value}, companion=companion)

    def to_message(self) -> dict[str, Any]:
        companion = self.companion
        return {
            "argv": list(self.argv),
            "env": dict(self.env),
            "cwd": str(self.cwd),
            "stdout": str(self.stdout),
            "stderr": str(self.stderr),
            "combined": str(self.combined),
            "usage_csv": str(self.usage_csv) if self.usage_csv else None,
            "timeout_s": float(self.timeout_s or 0),
            "grace_s": float(self.grace_s),
            "sample_hz": float(self.sample_hz),
            "cpus": list(self.cpus),
            "memory_mb": float(self.memory_mb or 0),
            "nice": self.nice,
            "mask": [list(pair) for pair in self.mask],
            "shapes": dict(self.shapes) if self.shapes else None,
            "freezer": str(self.freezer) if self.freezer else None,
            "gpus": self.gpus and [list(self.gpus.names), str(self.gpus.library), self.gpus.certain],
            "companion": companion
            and {
                "name": companion.name,
                "argv": list(companion.argv),
                "env": dict(companion.env),
                "cwd": str(companion.cwd),
                "log": str(companion.log),
                "ready": companion.ready,
                "timeout_s": companion.timeout_s,
                "attempts": companion.attempts,
            },
        }
