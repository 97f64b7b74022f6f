from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from assay.errors import UsageError
from assay.pipeline.stage import Stage
from assay.stages.pytorch.prompt_batch import AnswerBatch


@dataclass(frozen=True)
class KnownQuestion:
    """A question of a question set, with what is known of it."""

    text: str
    answers: tuple[str, ...] = ()
    """Any of them is right; none where the set does not say."""
    document: str = ""
    """Id of the document or row that holds the answer; empty where there is none or the set does not say."""


@dataclass(frozen=True)
class Passage:
    """A document, or a row of a database as text."""

    id: str
    text: str
    row: bool = False


Purpose = Literal["index", "sql", "relevance", "answer", "direct", "hallucination", "useful", "rewrite", "monolith"]
"""What a model is asked for: which index to search, a database query, whether passages are relevant, an answer from
passages or without any, whether the answer goes beyond the passages, whether it answers the question, another wording
of the question, or all in one."""


@dataclass(frozen=True)
class Question:
    """One question and all that has happened to it: what the stages pass to each other.

    Queries overlap, so no stage keeps anything about one.
    """

    number: int
    """Its place in the question set."""
    text: str
    asked: tuple[Purpose, ...] = ()
    """Calls of a model so far, in order."""
    said: str = ""
    """The model's last answer to whatever it was asked."""
    parsed: Any = None
    """The same as an instance of a schema, where one was asked for and followed."""
    rewrites: tuple[str, ...] = ()
    sql: str | None = None
    """The query that the next search in a database runs; None searches for the question's words."""
    rows: tuple[Passage, ...] = ()
    """What the last search in a database found."""
    documents: tuple[Passage, ...] = ()
    """What the last search among documents found."""
    answer: str = ""
    retries: tuple[str, ...] = ()
    """One entry a retry, named for what sent it back."""
    gave_up: str = ""
    """What would have sent it back once more than its bound allows; empty where it ended well."""
    prompt_tokens: int = 0
    answer_tokens: int = 0

    @property
    def wording(self) -> str:
        """What to search for."""
        return self.rewrites[-1] if self.rewrites else self.text

    @property
    def passages(self) -> tuple[Passage, ...]:
        """All that was found, for a prompt: a row that is one of the documents comes once."""
        ids = {row.id for row in self.rows}
        return (*self.rows, *(document for document in self.documents if document.id not in ids))

    def ask(self, purpose: Purpose) -> Question:
        return replace(self, asked=(*self.asked, purpose), said="", parsed=None)

    def retry(self, why: str) -> Question:
        return replace(self, retries=(*self.retries, why))

    def give_up(self, why: str) -> Question:
        return replace(self, gave_up=why)


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


Messages = list[dict[str, str]]


class Chat:
    """The chat template of a tokenizer. Some templates know no system's part, and some tokenizers have no template."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.note = ""
        if getattr(tokenizer, "chat_template", None) is None:
            self._arrange = self._plain
            self.note = "the tokenizer has no chat template: prompts are plain text"
            return
        self._arrange = self._two_parts
        try:
            self.prompt("system", "user")
        except Exception:  # noqa: BLE001  (a template may refuse a part with any exception it likes)
            self._arrange = self._one_part

    @classmethod
    def of(cls, stage: Stage[Any, Any]) -> Chat:
        tokenizer = getattr(stage, "tokenizer", None)
        if tokenizer is None:
            raise UsageError(
                f"tokenizer_stage_id: {type(stage).__name__} has no tokenizer; name a stage that loads a language model"
            )
        return cls(tokenizer)

    def prompt(self, system: str, user: str) -> str:
        return self._arrange(system, user)

    def _two_parts(self, system: str, user: str) -> str:
        return self._apply_template([{"role": "system", "content": system}, {"role": "user", "content": user}])

    def _one_part(self, system: str, user: str) -> str:
        return self._apply_template([{"role": "user", "content": f"{system}\n\n{user}"}])

    def _plain(self, system: str, user: str) -> str:
        return f"{system}\n\n{user}\n\nAnswer: "

    def _apply_template(self, messages: Messages) -> str:
        return str(self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))
