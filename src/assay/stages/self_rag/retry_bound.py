from __future__ import annotations

from assay.stages.self_rag.asked.question import Question


class RetryBound:
    """How often a router may send one question back. The count travels with the question.

    `stage` is where retries go; with what was asked last it names the retry in the question's state.
    """

    def __init__(self, most: int, stage: int) -> None:
        if isinstance(most, bool) or not isinstance(most, int) or most < 0:
            raise ValueError(f"max_retries must be a whole number of 0 or more, not {most!r}")
        self._most = most
        self._stage = stage

    def retry(self, question: Question) -> Question:
        """The question with one more retry, or given up where it has used them all."""
        why = f"{question.asked[-1] if question.asked else 'unasked'} -> {self._stage}"
        return question.retry(why) if question.retries.count(why) < self._most else question.give_up(why)
