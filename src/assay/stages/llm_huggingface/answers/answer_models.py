"""Data models that the files of the colocation benchmark name as `utils.schemas.rag`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel


class Score(BaseModel):
    """A grader's answer: yes or no."""

    score: bool


class RouterAnswer(BaseModel):
    """Where a question is sent."""

    index_backend: Literal["sqlite", "llm"]
