from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.errors import DataError
from assay.pipeline.resources import Worker
from assay.pipeline.stage import Stage
from assay.record.metric import Metric
from assay.stages.pytorch.prompt_batch import PromptBatch
from assay.stages.self_rag.asked.known_question import KnownQuestion
from assay.stages.self_rag.asked.question import Question
from assay.stages.self_rag.asked.reply import question_of
from assay.stages.self_rag.chat import Chat
from assay.stages.self_rag.scorecard import Scorecard
from assay.stages.self_rag.text_rows import QuestionSetOptions, text_rows
from assay.stages.self_rag.towns.town_library import TownLibrary

SYSTEM = (
    "You decide where a question is looked up. Reply sqlite if it is about particular places, people or records that a "
    "database may hold, or llm if anybody could answer it without looking. Reply with that one word."
)


class RAGDataLoader(Stage[int, Question | PromptBatch]):
    """The questions, and their score at the end.

    With `tokenizer_stage_id` a question leaves as the prompt that asks a model where to look it up, for an
    `IndexRouter` behind that model; without, as it is. `dataset` names a question set (`path` of a JSON-lines file, or
    `name` of a data set of the hub); without it the questions are about invented towns (`towns`, `seed`).
    """

    name = "RAG data loader"

    def __init__(
        self,
        tokenizer_stage_id: int | None = None,
        batch_size: int = 1,
        dataset: Mapping[str, Any] | None = None,
        towns: int = 24,
        seed: int = 0,
    ) -> None:
        if batch_size != 1:
            raise ValueError(f"batch_size must be 1, not {batch_size!r}: each question takes its own way")
        self._tokenizer_stage_id = tokenizer_stage_id
        self.uses = () if tokenizer_stage_id is None else (tokenizer_stage_id,)
        self._dataset = None if dataset is None else QuestionSetOptions.read("dataset", dataset)
        self._library = TownLibrary(towns, seed)
        self._known: list[KnownQuestion] = []
        self._model: Stage[Any, Any] | None = None
        self._chat: Chat | None = None
        self._scorecard = Scorecard()

    def link(self, stages: Mapping[int, Stage[Any, Any]]) -> None:
        if self._tokenizer_stage_id is not None:
            self._model = stages[self._tokenizer_stage_id]

    def setup(self, worker: Worker) -> None:
        self._known = self._library.questions if self._dataset is None else self._read(self._dataset)
        if self._model is not None:
            self._chat = Chat.of(self._model)
        self.start_measuring()

    def _read(self, columns: QuestionSetOptions) -> list[KnownQuestion]:
        found = []
        for number, row in enumerate(text_rows("dataset", columns), 1):
            if not isinstance(text := row.get(columns.question_column), str) or not text.strip():
                raise DataError(f"dataset: row {number} has no text in {columns.question_column!r}")
            answers = row.get(columns.answers_column)
            several = answers if isinstance(answers, list) else [] if answers is None else [answers]
            document = row.get(columns.document_column)
            found.append(KnownQuestion(text, tuple(map(str, several)), "" if document is None else str(document)))
        return found

    def __len__(self) -> int:
        return len(self._known)

    def process(self, data: int) -> Question | PromptBatch:
        question = Question(data, self._known[data].text)
        if self._chat is None:
            return question
        return PromptBatch((self._chat.prompt(SYSTEM, f"Question: {question.text}"),), question.ask("index"))

    def start_measuring(self) -> None:
        self._scorecard = Scorecard()

    def score(self, result: Any) -> None:
        question = question_of(result)
        self._scorecard.add(question, self._known[question.number])

    def measured(self) -> Sequence[Metric]:
        return self._scorecard.metrics()

    def notes(self) -> Sequence[str]:
        return (self._chat.note,) if self._chat is not None and self._chat.note else ()
