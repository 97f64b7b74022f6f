"""Prompts whose answer is text: a database query, an answer, another wording."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from assay.errors import UsageError
from assay.pipeline.stage import Stage, Worker
from assay.stages.pytorch.prompt_batch import PromptBatch
from assay.stages.self_rag.question import Chat, Purpose, Question, question_of
from assay.stages.self_rag.sqlite_search import SQLiteSearch


class Formatter(Stage[Any, PromptBatch]):
    """Makes the prompt of one call of a model out of a question and what is known of it so far.

    `tokenizer_stage_id` is the stage whose tokenizer has the chat template, as a rule the model that comes next.
    """

    purpose: ClassVar[Purpose]
    system: ClassVar[str]

    def __init__(self, tokenizer_stage_id: int) -> None:
        self.uses = (tokenizer_stage_id,)
        self._tokenizer_stage_id = tokenizer_stage_id

    def link(self, stages: Mapping[int, Stage[Any, Any]]) -> None:
        self._model = stages[self._tokenizer_stage_id]

    def setup(self, worker: Worker) -> None:
        self._chat = Chat.of(self._model)

    def process(self, data: Any) -> PromptBatch:
        question = question_of(data)
        return PromptBatch((self._chat.prompt(self.system, self.user(question)),), question.ask(self.purpose))

    @abstractmethod
    def user(self, question: Question) -> str:
        """The user's part of the prompt."""

    def notes(self) -> Sequence[str]:
        return (self._chat.note,) if self._chat.note else ()


def list_passages(question: Question) -> str:
    if not question.passages:
        return "Passages: none were found."
    return "Passages:\n" + "\n".join(f"[{n}] {passage.text}" for n, passage in enumerate(question.passages, 1))


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


# Prompts whose answer is yes or no.

_ONE_WORD = "Answer with one word, yes or no."


class RetrievalGraderFormatter(Formatter):
    """Asks whether what the search found has to do with the question. Yes: go on with it."""

    name = "retrieval grader formatter"
    purpose = "relevance"
    system = f"You judge search results. Say yes if at least one passage helps to answer the question. {_ONE_WORD}"

    def user(self, question: Question) -> str:
        return f"{list_passages(question)}\n\nQuestion: {question.text}"


class HallucinationGraderFormatter(Formatter):
    """Asks whether the answer claims what the passages do not say. Yes: it is made up."""

    name = "hallucination grader formatter"
    purpose = "hallucination"
    system = f"You look for invented facts. Say yes if the answer claims something no passage says. {_ONE_WORD}"

    def user(self, question: Question) -> str:
        return f"{list_passages(question)}\n\nAnswer to be checked: {question.answer}"


class AnswerGraderFormatter(Formatter):
    """Asks whether the answer answers the question. Yes: it is done."""

    name = "answer grader formatter"
    purpose = "useful"
    system = f"You judge answers. Say yes if the answer settles the question. {_ONE_WORD}"

    def user(self, question: Question) -> str:
        return f"Question: {question.text}\n\nAnswer to be judged: {question.answer}"


class MonolithFormatter(Formatter):
    """Asks for everything in one call: whether the passages are relevant, the answer, and whether it is made up."""

    name = "monolith formatter"
    purpose = "monolith"
    system = (
        "You answer from the passages alone and check yourself. Reply with one JSON object and no other text: "
        '{"relevance_grade": "yes" if a passage helps, else "no", "answer": your answer in at most two sentences, '
        '"hallucination_check": "yes" if the answer claims something no passage says, else "no"}'
    )

    def user(self, question: Question) -> str:
        return f"{list_passages(question)}\n\nQuestion: {question.text}"
