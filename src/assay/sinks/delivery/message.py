from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["session_started", "run_started", "run_finished", "session_finished"]


@dataclass(frozen=True)
class Message:
    """Something that happened, as every sink is told of it."""

    kind: Kind
    key: str
    """Names this message for good: `run_finished nightly/e/run-01`."""
    body: Mapping[str, Any]
    end: int = 0
    """Where the next one begins in the log."""
