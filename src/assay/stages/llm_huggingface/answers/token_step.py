from __future__ import annotations

from dataclasses import dataclass

from assay.stages.llm_huggingface.answers.generation import Generation


@dataclass(frozen=True, slots=True)
class TokenStep:
    """One token of every answer of a batch; None for an answer that has ended."""

    tokens: tuple[int | None, ...]
    generation: Generation
    """What it is a step of."""
