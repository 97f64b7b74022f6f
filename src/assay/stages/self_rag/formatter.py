from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from assay.pipeline.resources import Worker
from assay.pipeline.stage import Stage
from assay.stages.pytorch.prompt_batch import PromptBatch
from assay.stages.self_rag.asked.question import Purpose, Question
from assay.stages.self_rag.asked.reply import question_of
from assay.stages.self_rag.chat import Chat


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
