from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Turn:
    """One thing that a user says."""

    text: str
    max_tokens: int | None = None
    """Longest answer, in tokens; None: as the load says."""
    think_s: float = 0.0
    """Seconds from the answer before to this turn."""
    answer: str | None = None
    """What was answered when it was recorded."""


@dataclass(frozen=True)
class Conversation:
    """What one user asks, turn after turn. A single prompt is a conversation of one turn."""

    turns: tuple[Turn, ...]
    messages: tuple[Mapping[str, Any], ...] = ()
    """What stands before the first turn: a system prompt, recorded history."""
    at_s: float | None = None
    """When it begins, in seconds from the start of a recorded trace."""
