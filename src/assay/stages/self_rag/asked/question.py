from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from assay.stages.self_rag.asked.passage import Passage

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
