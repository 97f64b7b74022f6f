from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class PromptBatch:
    """Prompts that are answered together, ready for a tokenizer: a chat template is already applied."""

    prompts: tuple[str, ...]
    context: Any = None
    """Whatever the stages around the model pass to each other; it comes back with the answers."""
    split: str = ""
    references: tuple[str, ...] = ()
    """The answers that are known, where the data has them."""


@dataclass(frozen=True)
class AnswerBatch:
    """What a model said to a `PromptBatch`, in its order."""

    texts: tuple[str, ...]
    prompt_tokens: tuple[int, ...]
    answer_tokens: tuple[int, ...]
    context: Any = None
    parsed: tuple[Any, ...] = field(default=())
    """The answers as instances of the schema that was asked for; None where one does not follow it."""
