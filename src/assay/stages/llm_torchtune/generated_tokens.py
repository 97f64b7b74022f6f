from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.stages.pytorch.prompt_batch import AnswerBatch


@dataclass(frozen=True)
class GeneratedTokens:
    """One step of generation: the next token of each row, None where its answer has ended."""

    tokens: tuple[int | None, ...]
    prompt_lengths: tuple[int, ...]
    context: Any = None


def answers(steps: Sequence[GeneratedTokens], tokenizer: Any, stop: Sequence[int]) -> AnswerBatch:
    rows = [[token for token in column if token is not None] for column in zip(*(s.tokens for s in steps), strict=True)]
    texts = tuple(_text([token for token in row if token not in stop], tokenizer) for row in rows)
    return AnswerBatch(texts, steps[0].prompt_lengths, tuple(map(len, rows)), steps[0].context)


def _text(tokens: list[int], tokenizer: Any) -> str:
    try:
        return str(tokenizer.decode(tokens))
    except (TypeError, KeyError):
        # Models of some families have more tokens than their tokenizer.
        return str(tokenizer.decode([token for token in tokens if _is_known(token, tokenizer)]))


def _is_known(token: int, tokenizer: Any) -> bool:
    try:
        tokenizer.decode([token])
    except (TypeError, KeyError):
        return False
    return True
