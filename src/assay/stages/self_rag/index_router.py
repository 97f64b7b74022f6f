from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.names import unknown
from assay.pipeline.resources import Worker
from assay.pipeline.route import Routed, RouterStage
from assay.record.metric import Metric
from assay.stages.self_rag.asked.question import Question
from assay.stages.self_rag.asked.reply import question_of
from assay.stages.self_rag.wording import choice


class IndexRouter(RouterStage[Any, Question]):
    """Sends a question to the search (`sqlite`) or straight to the model (`llm`), as the model before it said.

    An answer that names neither goes where `unclear` says.
    """

    name = "index router"

    def __init__(self, sqlite_stage_id: int, llm_stage_id: int, unclear: str = "llm") -> None:
        self._stages = {"sqlite": sqlite_stage_id, "llm": llm_stage_id}
        if unclear not in self._stages:
            raise ValueError(f"unclear: {unknown('index', unclear, self._stages)}")
        self._unclear_to = unclear

    def setup(self, worker: Worker) -> None:
        self.start_measuring()

    def start_measuring(self) -> None:
        self._unclear = 0
        self._sent = dict.fromkeys(self._stages, 0)

    def process(self, data: Any) -> Routed[Question]:
        question = question_of(data)
        word = choice(self._stages, question)
        if word is None:
            self._unclear += 1
            word = self._unclear_to
        self._sent[word] += 1
        return Routed(question, (self._stages[word],))

    def measured(self) -> Sequence[Metric]:
        return (
            Metric("to_search", self._sent["sqlite"], unit="questions"),
            Metric("to_model", self._sent["llm"], unit="questions"),
            Metric("unclear", self._unclear, unit="answers", better="lower"),
        )
