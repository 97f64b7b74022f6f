from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.stages.pytorch.libraries import library
from assay.stages.pytorch.prompt_batch import PromptBatch

IGNORED = -100
"""Label of a token that is not learnt: of the prompt, or padding."""


@dataclass(frozen=True)
class TokenBatch(PromptBatch):
    """Prompts, or with `labels` whole conversations, as tensors of one row each."""

    input_ids: Any = None
    attention_mask: Any = None
    labels: Any = None
    tokens: int = 0
    """Tokens that are not padding."""
    label_tokens: int = 0
    """Tokens that count in the loss: each is predicted from the one before it."""

    def to(self, device: Any) -> TokenBatch:
        if self.input_ids.device == device:
            return self
        return replace(
            self,
            input_ids=self.input_ids.to(device),
            attention_mask=self.attention_mask.to(device),
            labels=None if self.labels is None else self.labels.to(device),
        )


def pad(rows: Sequence[Sequence[int]], filler: int, left: bool) -> Any:
    """A tensor as wide as the longest row."""
    width = max(map(len, rows))
    gaps = [[filler] * (width - len(row)) for row in rows]
    filled = [[*gap, *row] if left else [*row, *gap] for gap, row in zip(gaps, rows, strict=True)]
    return library("torch", "llm").tensor(filled)


def mask_of(rows: Sequence[Sequence[int]], left: bool) -> Any:
    return pad([[1] * len(row) for row in rows], 0, left)
