from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from assay.stages.pytorch.prompt_batch import AnswerBatch
from assay.stages.self_rag.asked.question import Question


def question_of(payload: Any) -> Question:
    """The question, with the model's answer in its place where the payload comes from a model."""
    if isinstance(payload, Question):
        return payload
    if isinstance(payload, AnswerBatch) and isinstance(payload.context, Question):
        return _answer(payload.context, payload)
    raise TypeError(f"expected a question, or a model's answer to one, not {type(payload).__name__}")


def fields_of(parsed: Any) -> dict[str, Any]:
    """The fields of a structured answer; none where there is no such answer."""
    if isinstance(parsed, Mapping):
        return dict(parsed)
    dump = getattr(parsed, "model_dump", None)
    return dict(dump()) if callable(dump) else {}


def _answer(question: Question, batch: AnswerBatch) -> Question:
    text = batch.texts[0] if batch.texts else ""
    parsed = batch.parsed[0] if batch.parsed else None
    told = replace(
        question,
        said=text,
        parsed=parsed,
        prompt_tokens=question.prompt_tokens + sum(batch.prompt_tokens),
        answer_tokens=question.answer_tokens + sum(batch.answer_tokens),
    )
    fields = fields_of(parsed)
    # A schema of one field is that field in another dress.
    words = (str(next(iter(fields.values()))) if len(fields) == 1 else text).strip()
    match question.asked[-1] if question.asked else None:
        case "answer" | "direct":
            return replace(told, answer=words)
        case "rewrite" if words:
            return replace(told, rewrites=(*question.rewrites, words), sql=None)
        case "sql":
            return replace(told, sql=words)
    return told
