"""One prompt that does everything: the same questions and figures as the graph that is taken apart."""

from __future__ import annotations

from typing import Any

import pytest
from rag_graph import Script, asked, figures, visits

from assay.loadgen import Graph, Node
from assay.stages.self_rag import (
    MonolithFormatter,
    MonolithRouter,
    QuestionRewriterFormatter,
    RAGDataLoader,
    Retriever,
    ScriptedModel,
    SQLiteSearch,
)
from assay.stages.self_rag.routers import json_object
from assay.stages.synthetic import NoOp

ACCEPTED = '{"relevance_grade": "yes", "answer": "{passages}", "hallucination_check": "no"}'
REFUSED = '{"relevance_grade": "no", "answer": "nothing", "hallucination_check": "no"}'


def monolith(script: Script) -> Graph:
    nodes = [
        Node(0, RAGDataLoader(), outputs=(1,)),
        Node(1, SQLiteSearch(), outputs=(2,)),
        Node(2, Retriever(), outputs=(3,)),
        Node(3, MonolithFormatter(tokenizer_stage_id=4), outputs=(4,)),
        Node(4, ScriptedModel(script), outputs=(5,)),
        Node(5, MonolithRouter(accept_stage_id=6, retry_stage_id=7, end_stage_id=6), outputs=(6, 7)),
        Node(6, NoOp()),
        Node(7, QuestionRewriterFormatter(tokenizer_stage_id=4), outputs=(8,)),
        Node(8, ScriptedModel(depends_on_id=4), outputs=(1,)),
    ]
    return Graph.build(nodes, inputs=[0], outputs=[6], dataset=0)


def test_one_call_answers_a_question() -> None:
    ended, result = asked(monolith({"monolith": ACCEPTED}), 96)
    found = figures(result, 0)
    assert found["calls_per_question"] == 1
    assert found["document_found"] == 1
    # Three of four questions have their answer in what was found; a sum has not.
    assert found["answer_found"] == 0.75
    assert figures(result, 5) == {"accepted": 96, "unclear": 0, "retries": 0, "gave_up": 0}
    assert ended[0].asked == ("monolith",)


def test_a_refused_answer_is_searched_for_again_in_other_words() -> None:
    ended, result = asked(monolith({"monolith": [REFUSED, ACCEPTED], "rewrite": "Dunstaby church organs"}))
    assert ended[0].asked == ("monolith", "rewrite", "monolith")
    assert ended[0].retries == ("monolith -> 7",)
    assert visits(result) == {0: 1, 1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 1, 7: 1, 8: 1}


@pytest.mark.parametrize(("said", "unclear"), [(REFUSED, 0), ("I would rather not say.", 3)])
def test_at_its_bound_a_question_ends_with_the_answer_it_has(said: str, unclear: int) -> None:
    ended, result = asked(monolith({"monolith": said, "rewrite": "again"}))
    assert ended[0].asked == ("monolith", "rewrite", "monolith", "rewrite", "monolith")
    assert ended[0].gave_up == "monolith -> 7"
    assert ended[0].answer == ("" if unclear else "nothing")
    assert figures(result, 5) == {"accepted": 0, "unclear": unclear, "retries": 2, "gave_up": 1}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        ('```json\n{"a": {"b": 2}}\n```', {"a": {"b": 2}}),
        ('Sure {not it}, but {"a": "}"} and more', {"a": "}"}),
        ("[1, 2]", {}),
        ("{" * 5000, {}),
        ("", {}),
    ],
)
def test_json_is_found_in_what_a_model_says(text: str, found: dict[str, Any]) -> None:
    assert json_object(text) == found
