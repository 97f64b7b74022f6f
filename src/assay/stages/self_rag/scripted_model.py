from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from assay.errors import UsageError
from assay.names import unknown
from assay.pipeline.stage import Stage, Worker
from assay.record.metric import Metric
from assay.stages.pytorch.prompt_batch import AnswerBatch, PromptBatch
from assay.stages.self_rag.question import KnownQuestion, Purpose, Question
from assay.stages.self_rag.routers import holds


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


Script = Mapping[str, Any]
"""Purpose → an answer, or answers in order. YAML reads a bare yes or no as true or false."""


class PlainChat:
    """A tokenizer for models that need none: prompts stay words."""

    chat_template = "plain"

    def apply_chat_template(self, messages: Sequence[Mapping[str, str]], **_: Any) -> str:
        return "\n".join(f"{message['role']}: {message['content']}" for message in messages)


class ScriptedModel(Stage[PromptBatch, AnswerBatch]):
    """Answers from a script instead of a model, to study routes and the cost of a graph alone.

    `script` has an answer, or several for the first, second … time a question asks, for each purpose (`index`, `sql`,
    `relevance`, …); `questions` has scripts for single questions, by number. In an answer `{question}` and
    `{passages}` stand for what the question is and what was found for it. Tokens are counted as words.
    """

    name = "scripted model"

    def __init__(
        self,
        script: Script | None = None,
        questions: Mapping[int, Script] | None = None,
        depends_on_id: int | None = None,
    ) -> None:
        self._script = _lines(script or {})
        self._questions = {int(number): _lines(own) for number, own in (questions or {}).items()}
        self.uses = () if depends_on_id is None else (depends_on_id,)
        self.tokenizer = PlainChat()
        self.calls = 0
        """Calls through this stage, the warm-up apart."""

    def link(self, stages: Mapping[int, Stage[Any, Any]]) -> None:
        for used in stages.values():
            if not isinstance(used, ScriptedModel):
                raise UsageError(f"depends_on_id: {type(used).__name__} has no script; name a ScriptedModel")
            self._script, self._questions = used._script, used._questions

    def setup(self, worker: Worker) -> None:
        self.calls = 0

    def start_measuring(self) -> None:
        self.calls = 0

    def process(self, data: PromptBatch) -> AnswerBatch:
        self.calls += 1
        question: Question = data.context
        said = self._line(question).replace("{question}", question.wording)
        said = said.replace("{passages}", " ".join(passage.text for passage in question.passages))
        return AnswerBatch((said,), (len(data.prompts[0].split()),), (len(said.split()),), question)

    def _line(self, question: Question) -> str:
        purpose = question.asked[-1]
        lines = self._questions.get(question.number, {}).get(purpose) or self._script.get(purpose) or ("",)
        return lines[min(question.asked.count(purpose), len(lines)) - 1]

    def measured(self) -> Sequence[Metric]:
        return (Metric("calls", self.calls, unit="1"),)


def _lines(script: Script) -> dict[str, tuple[str, ...]]:
    for purpose in script:
        if purpose not in get_args(Purpose):
            raise ValueError(f"script: {unknown('purpose', purpose, get_args(Purpose))}")
    return {
        purpose: tuple(map(_line, said if isinstance(said, list | tuple) else [said]))
        for purpose, said in script.items()
    }


def _line(said: Any) -> str:
    return str(said) if not isinstance(said, bool) else "yes" if said else "no"
