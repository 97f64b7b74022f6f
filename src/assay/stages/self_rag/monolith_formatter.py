from __future__ import annotations

from assay.stages.self_rag.asked.question import Question
from assay.stages.self_rag.formatter import Formatter, list_passages


class MonolithFormatter(Formatter):
    """Asks for everything in one call: whether the passages are relevant, the answer, and whether it is made up."""

    name = "monolith formatter"
    purpose = "monolith"
    system = (
        "You answer from the passages alone and check yourself. Reply with one JSON object and no other text: "
        '{"relevance_grade": "yes" if a passage helps, else "no", "answer": your answer in at most two sentences, '
        '"hallucination_check": "yes" if the answer claims something no passage says, else "no"}'
    )

    def user(self, question: Question) -> str:
        return f"{list_passages(question)}\n\nQuestion: {question.text}"
