"""Prompts whose answer is text: a database query, an answer, another wording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.errors import UsageError
from assay.pipeline.resources import Worker
from assay.pipeline.stage import Stage
from assay.stages.self_rag.asked.question import Question
from assay.stages.self_rag.formatter import Formatter, list_passages
from assay.stages.self_rag.sqlite_search import SQLiteSearch


class SQLQueryGeneratorFormatter(Formatter):
    """Asks for a query to the database of the stage `schema_stage_id`."""

    name = "SQL query generator formatter"
    purpose = "sql"
    system = "You write queries for SQLite. Reply with a single SELECT statement and no other text."

    def __init__(self, tokenizer_stage_id: int, schema_stage_id: int) -> None:
        super().__init__(tokenizer_stage_id)
        self.uses = (tokenizer_stage_id, schema_stage_id)
        self._schema_stage_id = schema_stage_id

    def link(self, stages: Mapping[int, Stage[Any, Any]]) -> None:
        super().link(stages)
        self._database = stages[self._schema_stage_id]

    def setup(self, worker: Worker) -> None:
        super().setup(worker)
        if not isinstance(self._database, SQLiteSearch):
            raise UsageError(f"schema_stage_id: {type(self._database).__name__} has no schema; name a SQLiteSearch")
        self._schema = self._database.schema

    def user(self, question: Question) -> str:
        return f"Tables:\n{self._schema}\n\nQuestion: {question.wording}"


class AnswerGeneratorFormatter(Formatter):
    name = "answer generator formatter"
    purpose = "answer"
    system = "You answer from the passages alone, in at most two sentences. If they do not tell, say so."

    def user(self, question: Question) -> str:
        return f"{list_passages(question)}\n\nQuestion: {question.text}"


class LLMGeneratorFormatter(Formatter):
    """Asks the model itself, without a search."""

    name = "LLM generator formatter"
    purpose = "direct"
    system = "You answer from what you know, in at most two sentences."

    def user(self, question: Question) -> str:
        return f"Question: {question.text}"


class QuestionRewriterFormatter(Formatter):
    name = "question rewriter formatter"
    purpose = "rewrite"
    system = "You reword questions so that a search finds more. Reply with the new question and no other text."

    def user(self, question: Question) -> str:
        tried = "".join(f"\nTried before: {wording}" for wording in question.rewrites)
        return f"Question: {question.text}{tried}"
