"""Figures of quality, against runs whose answers were constructed."""

from __future__ import annotations

from typing import Any

import pytest
from rag_graph import asked, decomposed, figures

from assay.stages.self_rag.question import KnownQuestion, Question
from assay.stages.self_rag.routers import holds
from assay.stages.self_rag.sample_data import TownLibrary
from assay.stages.self_rag.scripted_model import Scorecard

GOOD = {"index": "sqlite", "relevance": "yes", "answer": "{passages}", "hallucination": "no", "useful": "yes"}


def perfect() -> dict[int, dict[str, Any]]:
    """The query that finds the answer of each question, or the direct answer where there is nothing to search."""
    known = TownLibrary().questions
    scripts: dict[int, dict[str, Any]] = {}
    for n, question in enumerate(known):
        table = "documents" if question.document.startswith("town") else "towns"
        scripts[n] = {"sql": f"SELECT * FROM {table} WHERE id = '{question.document}'"}
        if not question.document:
            scripts[n] = {"index": "llm", "direct": f"It is {question.answers[0]}."}
    return scripts


def test_a_model_that_does_everything_right_finds_every_answer() -> None:
    _, result = asked(decomposed(GOOD, perfect()), 96)
    found = figures(result, 0)
    assert found["questions"] == 96
    assert found["answer_found"] == 1
    assert found["document_found"] == 1
    assert found["calls_per_question"] == (3 * 6 + 2) / 4
    assert found["retries_per_question"] == found["gave_up"] == 0
    assert figures(result, 2) == {"to_search": 72, "to_model": 24, "unclear": 0}
    assert figures(result, 5) == {"searches": 72, "invalid_queries": 0, "empty": 0, "rows": 72}


def test_wrong_documents_and_bad_queries_cost_exactly_their_questions() -> None:
    scripts = perfect()
    scripts[0]["sql"] = "SELECT * FROM documents WHERE id = 'wrong-000'"
    scripts[1]["sql"] = "DROP TABLE towns"
    scripts[2]["sql"] = "I would look in the documents"
    scripts[3]["direct"] = "I do not know."
    scripts[4]["answer"] = "It is known for nothing."
    _, result = asked(decomposed(GOOD, scripts), 96)
    found = figures(result, 0)
    assert found["answer_found"] == pytest.approx(91 / 96)
    assert found["document_found"] == pytest.approx(69 / 72)
    assert figures(result, 5)["invalid_queries"] == 2
    assert figures(result, 5)["empty"] == 2


def test_an_answer_that_is_neither_yes_nor_no_is_counted_and_is_a_no() -> None:
    ended, result = asked(decomposed({**GOOD, "sql": "SELECT 1", "relevance": "maybe", "rewrite": "again"}))
    assert figures(result, 8) == {"yes": 0, "no": 0, "unclear": 3, "retries": 2, "gave_up": 1}
    assert ended[0].gave_up == "relevance -> 18"


def test_an_index_that_is_neither_is_counted_and_is_the_model() -> None:
    _, result = asked(decomposed({"index": "the moon"}))
    assert figures(result, 2) == {"to_search": 0, "to_model": 1, "unclear": 1}


@pytest.mark.parametrize(
    ("text", "answer", "found"),
    [
        ("It has 12,400 people.", "12400", True),
        ("The mayor is LEON  grau!", "Leon Grau", True),
        ("The mayor is Leonora Grau.", "Leon Grau", False),
        ("1500", "150", False),
        ("", "150", False),
        ("anything", "", False),
    ],
)
def test_an_answer_stands_in_a_text_as_whole_words(text: str, answer: str, found: bool) -> None:
    assert holds(text, answer) is found


def test_what_a_question_set_does_not_tell_is_not_scored() -> None:
    card = Scorecard()
    assert card.metrics() == ()
    card.add(Question(0, "Why?"), KnownQuestion("Why?"))
    names = {metric.name for metric in card.metrics()}
    assert "answer_found" not in names
    assert "document_found" not in names
    assert "calls_per_question" in names
