"""Prompts whose answer is yes or no."""

from __future__ import annotations

from assay.stages.self_rag.asked.question import Question
from assay.stages.self_rag.formatter import Formatter, list_passages

_ONE_WORD = "Answer with one word, yes or no."


class RetrievalGraderFormatter(Formatter):
    """Asks whether what the search found has to do with the question. Yes: go on with it."""

    name = "retrieval grader formatter"
    purpose = "relevance"
    system = f"You judge search results. Say yes if at least one passage helps to answer the question. {_ONE_WORD}"

    def user(self, question: Question) -> str:
        return f"{list_passages(question)}\n\nQuestion: {question.text}"


class HallucinationGraderFormatter(Formatter):
    """Asks whether the answer claims what the passages do not say. Yes: it is made up."""

    name = "hallucination grader formatter"
    purpose = "hallucination"
    system = f"You look for invented facts. Say yes if the answer claims something no passage says. {_ONE_WORD}"

    def user(self, question: Question) -> str:
        return f"{list_passages(question)}\n\nAnswer to be checked: {question.answer}"


class AnswerGraderFormatter(Formatter):
    """Asks whether the answer answers the question. Yes: it is done."""

    name = "answer grader formatter"
    purpose = "useful"
    system = f"You judge answers. Say yes if the answer settles the question. {_ONE_WORD}"

    def user(self, question: Question) -> str:
        return f"Question: {question.text}\n\nAnswer to be judged: {question.answer}"
