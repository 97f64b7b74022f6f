"""What a model can be held to with `data_model` of an Inference stage."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel


class RouterAnswer(BaseModel):
    """For the model before an IndexRouter."""

    index_backend: Literal["sqlite", "llm"]


class Score(BaseModel):
    """For the model before a BinaryRouter."""

    score: bool


class MonolithAnswer(BaseModel):
    """For the model before a MonolithRouter."""

    relevance_grade: Literal["yes", "no"]
    answer: str
    hallucination_check: Literal["yes", "no"]
