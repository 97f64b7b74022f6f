from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ProcessResult:
    """How a supervised process ended, and what its tree used."""

    returncode: int | None = None
    """Negative: the signal that ended it. None: it never ran, or could not be waited for."""
    exec_time_s: float = 0.0
    ended_because: str = ""
    """Why it was ended from outside: `timeout`, `memory`, or the word given to `Supervised.end`."""
    failure: str = ""
    """Why it could not be started."""
    unseen: str = ""
    """Why its end was not seen though it ran: what became of its supervisor process."""
    stopped: bool = False
    """Somebody had stopped its supervisor process; it was told to go on."""
    failure_log: str = ""
    """File that says more about it."""
    left_behind: int = 0
    """Processes that were still running when the program had exited; they were ended."""
    immortal: tuple[int, ...] = ()
    output_error: str = ""
    companion_s: float = 0.0
    usage: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_message(cls, message: Mapping[str, Any]) -> ProcessResult:
        return cls(**{**message, "immortal": tuple(message.get("immortal", ()))})
