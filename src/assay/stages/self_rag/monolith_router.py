from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from assay.pipeline.resources import Worker
from assay.pipeline.route import Routed, RouterStage
from assay.record.metric import Metric
from assay.stages.self_rag.asked.question import Question
from assay.stages.self_rag.asked.reply import fields_of, question_of
from assay.stages.self_rag.retry_bound import RetryBound


class MonolithRouter(RouterStage[Any, Question]):
    """Accepts the answer of a monolithic prompt if its own checks pass: relevant passages, nothing made up.

    Otherwise the question goes to `retry_stage_id`, and after `max_retries` to `end_stage_id` with the answer it has.
    """

    name = "monolith router"
    ends_cycles = True

    def __init__(self, accept_stage_id: int, retry_stage_id: int, end_stage_id: int, max_retries: int = 2) -> None:
        self._accept, self._retry, self._end = accept_stage_id, retry_stage_id, end_stage_id
        self._bound = RetryBound(max_retries, retry_stage_id)

    def setup(self, worker: Worker) -> None:
        self.start_measuring()

    def start_measuring(self) -> None:
        self._counts = {"accepted": 0, "unclear": 0, "retries": 0, "gave_up": 0}

    def process(self, data: Any) -> Routed[Question]:
        question = question_of(data)
        fields = fields_of(question.parsed) or json_object(question.said)
        self._counts["unclear"] += not {"relevance_grade", "answer", "hallucination_check"} <= fields.keys()
        question = replace(question, answer=str(fields.get("answer") or question.answer))
        if self._passes(fields):
            self._counts["accepted"] += 1
            return Routed(question, (self._accept,))
        question = self._bound.retry(question)
        self._counts["gave_up" if question.gave_up else "retries"] += 1
        return Routed(question, (self._end if question.gave_up else self._retry,))

    @staticmethod
    def _passes(fields: dict[str, Any]) -> bool:
        relevant, invented = (str(fields.get(key, "")).casefold() for key in ("relevance_grade", "hallucination_check"))
        return relevant in ("yes", "true") and invented in ("no", "false") and bool(fields.get("answer"))

    def measured(self) -> Sequence[Metric]:
        return (
            Metric("accepted", self._counts["accepted"], unit="questions"),
            Metric("unclear", self._counts["unclear"], unit="answers", better="lower"),
            Metric("retries", self._counts["retries"], unit="1", better="lower"),
            Metric("gave_up", self._counts["gave_up"], unit="questions", better="lower"),
        )


def json_object(text: str) -> dict[str, Any]:
    """The first JSON object in a model's words, whatever stands around it; empty without one."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    while start >= 0:
        try:
            found, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        return found if isinstance(found, dict) else {}
    return {}
