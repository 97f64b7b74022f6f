from __future__ import annotations

from typing import Literal

from pydantic import BaseModel


class MonolithAnswer(BaseModel):
    """What the model before a MonolithRouter can be held to (`data_model` of its Inference stage)."""

    relevance_grade: Literal["yes", "no"]
    answer: str
    hallucination_check: Literal["yes", "no"]
