from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.errors import DataError
from assay.loadgen.serving.prompts.conversation import Conversation, Turn
from assay.loadgen.serving.prompts.token_text import TokenText

_USER = ("human", "user")
_SYSTEM = "system"


def is_sharegpt(written: Mapping[str, Any]) -> bool:
    return "conversations" in written


def sharegpt_conversation(
    where: str, written: Mapping[str, Any], text: TokenText, multi_turn: bool, think_s: float, at_s: float | None
) -> Conversation:
    """What a person said, turn after turn; the recorded answers say how long the new ones may be."""
    said = written["conversations"]
    if not isinstance(said, list) or not all(
        isinstance(part, Mapping) and isinstance(part.get("value"), str) and part.get("from") for part in said
    ):
        raise DataError(f"{where}: conversations must be a list of {{from, value}}")
    before = tuple({"role": "system", "content": part["value"]} for part in said if part["from"] == _SYSTEM)
    turns: list[Turn] = []
    for part, following in zip(said, [*said[1:], None], strict=True):
        if part["from"] not in _USER or not part["value"]:
            continue
        answered = following is not None and following["from"] not in (*_USER, _SYSTEM)
        answer = following["value"] if answered and following is not None else None
        longest = max(text.count([answer])[0], 1) if answer else None
        turns.append(Turn(part["value"], longest, think_s if turns else 0.0, answer))
        if not multi_turn:
            break
    if not turns:
        raise DataError(f"{where}: nothing in this conversation is from a human")
    return Conversation(tuple(turns), before, at_s)
