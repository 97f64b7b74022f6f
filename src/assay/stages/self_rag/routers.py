"""Words read out of what models say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from assay.names import unknown
from assay.pipeline.stage import Routed, RouterStage, Worker
from assay.record.metric import Metric
from assay.stages.self_rag.question import Question, fields_of, question_of

_YES = {"yes": True, "true": True, "no": False, "false": False}


def first_of(words: Iterable[str], text: str) -> str | None:
    """The one of the words that comes first in the text, as a whole word in any case."""
    found = re.search(rf"\b({'|'.join(map(re.escape, words))})\b", text.casefold())
    return found.group(1) if found else None


def choice(words: Iterable[str], question: Question) -> str | None:
    """Which of the words the model's last answer names, first of all in its fields where it has any."""
    words = list(words)
    said = [str(value) for value in fields_of(question.parsed).values()]
    return next((word for text in (*said, question.said) if (word := first_of(words, text))), None)


def yes_or_no(question: Question) -> bool | None:
    """None where the model's last answer is neither."""
    word = choice(_YES, question)
    return None if word is None else _YES[word]


def holds(text: str, answer: str) -> bool:
    """Whether the answer stands in the text, whatever the case and punctuation; `12,400` is `12400`."""
    wanted = _plain(answer)
    return bool(wanted) and f" {wanted} " in f" {_plain(text)} "


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", re.sub(r"(?<=\d),(?=\d)", "", text.casefold())))


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


class MonolithRouter(RouterStage[Any, Question]):
    """Accepts the answer of a monolithic prompt if its own checks pass: relevant passages, nothing made up.

    Otherwise the question goes to `retry_stage_id`, and after `max_retries` to `end_stage_id` with the answer it has.
    """

    name = "monolith router"
    ends_cycles = True

    def __init__(self, accept_stage_id: int, retry_stage_id: int, end_stage_id: int, max_retries: int = 2) -> None:
        self._accept, self._retry, self._end = accept_stage_id, retry_stage_id, end_stage_id
        self._bound = RetryBound(max_retries, retry_stage_id)

    def setup(self, worker: Worker) -> None:
        self.start_measuring()

    def start_measuring(self) -> None:
        self._counts = {"accepted": 0, "unclear": 0, "retries": 0, "gave_up": 0}

    def process(self, data: Any) -> Routed[Question]:
        question = question_of(data)
        fields = fields_of(question.parsed) or json_object(question.said)
        self._counts["unclear"] += not {"relevance_grade", "answer", "hallucination_check"} <= fields.keys()
        question = replace(question, answer=str(fields.get("answer") or question.answer))
        if self._passes(fields):
            self._counts["accepted"] += 1
            return Routed(question, (self._accept,))
        question = self._bound.retry(question)
        self._counts["gave_up" if question.gave_up else "retries"] += 1
        return Routed(question, (self._end if question.gave_up else self._retry,))

    @staticmethod
    def _passes(fields: dict[str, Any]) -> bool:
        relevant, invented = (str(fields.get(key, "")).casefold() for key in ("relevance_grade", "hallucination_check"))
        return relevant in ("yes", "true") and invented in ("no", "false") and bool(fields.get("answer"))

    def measured(self) -> Sequence[Metric]:
        return (
            Metric("accepted", self._counts["accepted"], unit="questions"),
            Metric("unclear", self._counts["unclear"], unit="answers", better="lower"),
            Metric("retries", self._counts["retries"], unit="1", better="lower"),
            Metric("gave_up", self._counts["gave_up"], unit="questions", better="lower"),
        )


def json_object(text: str) -> dict[str, Any]:
    """The first JSON object in a model's words, whatever stands around it; empty without one."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    while start >= 0:
        try:
            found, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        return found if isinstance(found, dict) else {}
    return {}
