from __future__ import annotations

from collections.abc import Sequence

from assay.record.metric import Metric
from assay.stages.self_rag.asked.known_question import KnownQuestion
from assay.stages.self_rag.asked.question import Question
from assay.stages.self_rag.wording import holds


class Scorecard:
    """How questions ended, against what is known of them."""

    def __init__(self) -> None:
        self._answers: list[float] = []
        self._documents: list[float] = []
        self._calls: list[float] = []
        self._retries: list[float] = []
        self._tokens: list[float] = []
        self._gave_up = 0

    def add(self, question: Question, known: KnownQuestion) -> None:
        if known.answers:
            self._answers.append(any(holds(question.answer, answer) for answer in known.answers))
        if known.document:
            self._documents.append(_found(question, known))
        self._calls.append(len(question.asked))
        self._retries.append(len(question.retries))
        self._tokens.append(question.prompt_tokens + question.answer_tokens)
        self._gave_up += bool(question.gave_up)

    def metrics(self) -> Sequence[Metric]:
        """Metrics of how questions ended; those that no question could tell are left out."""
        if not self._calls:
            return ()
        found = [Metric("questions", len(self._calls), unit="questions")]
        if self._answers:
            found.append(Metric("answer_found", _mean(self._answers), unit="share", better="higher"))
        if self._documents:
            found.append(Metric("document_found", _mean(self._documents), unit="share", better="higher"))
        return (
            *found,
            Metric("calls_per_question", _mean(self._calls), "1", "lower", tuple(self._calls)),
            Metric("retries_per_question", _mean(self._retries), "1", "lower", tuple(self._retries)),
            Metric("tokens_per_question", _mean(self._tokens), "tokens", "lower", tuple(self._tokens)),
            Metric("gave_up", self._gave_up / len(self._calls), unit="share", better="lower"),
        )


def _found(question: Question, known: KnownQuestion) -> bool:
    """Whether the document was found: by its id, or as a row that holds the answer, since a query need not select the
    id."""
    by_id = any(passage.id == known.document for passage in question.passages)
    return by_id or any(holds(row.text, answer) for row in question.rows for answer in known.answers)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
