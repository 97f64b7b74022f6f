from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.pipeline.resources import Worker
from assay.pipeline.route import Routed, RouterStage
from assay.record.metric import Metric
from assay.stages.self_rag.asked.question import Question
from assay.stages.self_rag.asked.reply import question_of
from assay.stages.self_rag.retry_bound import RetryBound
from assay.stages.self_rag.wording import yes_or_no


class BinaryRouter(RouterStage[Any, Question]):
    """Sends a question by the yes or no of the model before it. One of the two is a retry: `retry_is_yes`.

    After `max_retries` of them the question goes to `end_stage_id` with what it has. An answer that is neither counts
    as no.
    """

    name = "binary router"
    ends_cycles = True

    def __init__(
        self, max_retries: int, retry_is_yes: bool, yes_stage_id: int, no_stage_id: int, end_stage_id: int
    ) -> None:
        if not isinstance(retry_is_yes, bool):
            raise ValueError(f"retry_is_yes must be true or false, not {retry_is_yes!r}")
        self._stages = {True: yes_stage_id, False: no_stage_id}
        self._end = end_stage_id
        self._retry_is = retry_is_yes
        self._bound = RetryBound(max_retries, self._stages[retry_is_yes])

    def setup(self, worker: Worker) -> None:
        self.start_measuring()

    def start_measuring(self) -> None:
        self._counts = {"yes": 0, "no": 0, "unclear": 0, "retries": 0, "gave_up": 0}

    def process(self, data: Any) -> Routed[Question]:
        question = question_of(data)
        said = yes_or_no(question)
        self._counts["unclear" if said is None else "yes" if said else "no"] += 1
        yes = said is True
        if yes is not self._retry_is:
            return Routed(question, (self._stages[yes],))
        question = self._bound.retry(question)
        if question.gave_up:
            self._counts["gave_up"] += 1
            return Routed(question, (self._end,))
        self._counts["retries"] += 1
        return Routed(question, (self._stages[yes],))

    def measured(self) -> Sequence[Metric]:
        return (
            Metric("yes", self._counts["yes"], unit="answers"),
            Metric("no", self._counts["no"], unit="answers"),
            Metric("unclear", self._counts["unclear"], unit="answers", better="lower"),
            Metric("retries", self._counts["retries"], unit="1", better="lower"),
            Metric("gave_up", self._counts["gave_up"], unit="questions", better="lower"),
        )
