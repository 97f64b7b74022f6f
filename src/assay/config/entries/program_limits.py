from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ProgramLimits:
    """What a program and all below it may use; None: as much as there is."""

    cpus: int | None = None
    memory: float | None = None
    """Megabytes, above which the run is ended."""
