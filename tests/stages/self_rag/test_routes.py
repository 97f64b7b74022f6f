"""The graph takes the routes, retries and calls that were constructed, and no other."""

from __future__ import annotations

import pytest
from rag_graph import asked, decomposed, figures, visits

from assay.loadgen import ConcurrentLoadScheduler

ROW = "SELECT * FROM towns WHERE name = 'Dunstaby'"
WRONG = "SELECT * FROM documents WHERE id = 'wrong-000'"
GOOD = {
    "index": "sqlite",
    "sql": ROW,
    "relevance": "yes",
    "answer": "{passages}",
    "hallucination": "no",
    "useful": "yes",
    "rewrite": "{question} again",
    "direct": "The sum is 50.",
}
SEARCH = ["sql", "relevance"]
ANSWER = ["answer", "hallucination"]


def test_a_question_that_needs_no_search_takes_the_short_way() -> None:
    ended, result = asked(decomposed({**GOOD, "index": "llm"}))
    assert ended[0].asked == ("index", "direct")
    assert visits(result) == dict.fromkeys([0, 1, 2, 20, 21, 17], 1)
    assert ended[0].answer == "The sum is 50."


def test_a_question_with_no_complaint_goes_straight_through() -> None:
    ended, result = asked(decomposed(GOOD))
    assert ended[0].asked == ("index", *SEARCH, *ANSWER, "useful")
    assert visits(result) == dict.fromkeys(range(18), 1)
    assert ended[0].retries == ()
    assert ended[0].gave_up == ""


def test_a_wrong_document_is_found_out_and_the_question_reworded() -> None:
    script = {**GOOD, "sql": [WRONG, ROW], "relevance": ["no", "yes"], "rewrite": "Which people live in Dunstaby?"}
    ended, result = asked(decomposed(script))
    assert ended[0].asked == ("index", *SEARCH, "rewrite", *SEARCH, *ANSWER, "useful")
    assert ended[0].retries == ("relevance -> 18",)
    assert ended[0].rewrites == ("Which people live in Dunstaby?",)
    assert [row.id for row in ended[0].rows] == ["row-000"]
    assert visits(result) == {**dict.fromkeys(range(18), 1), **dict.fromkeys(range(3, 9), 2), 18: 1, 19: 1}


def test_an_invented_answer_is_written_again() -> None:
    ended, _ = asked(decomposed({**GOOD, "answer": ["made up", "{passages}"], "hallucination": ["yes", "no"]}))
    assert ended[0].asked == ("index", *SEARCH, *ANSWER, *ANSWER, "useful")
    assert ended[0].retries == ("hallucination -> 9",)
    assert "Dunstaby" in ended[0].answer


def test_a_useless_answer_starts_a_new_search() -> None:
    ended, _ = asked(decomposed({**GOOD, "useful": ["no", "yes"]}))
    assert ended[0].asked == ("index", *SEARCH, *ANSWER, "useful", "rewrite", *SEARCH, *ANSWER, "useful")
    assert ended[0].retries == ("useful -> 18",)


@pytest.mark.parametrize(
    ("never", "route", "retry", "router"),
    [
        ({"relevance": "no"}, [*SEARCH, "rewrite", *SEARCH, "rewrite", *SEARCH], "relevance -> 18", 8),
        ({"hallucination": "yes"}, [*SEARCH, *ANSWER * 3], "hallucination -> 9", 13),
        (
            {"useful": "no"},
            [*([*SEARCH, *ANSWER, "useful", "rewrite"] * 2), *SEARCH, *ANSWER, "useful"],
            "useful -> 18",
            16,
        ),
    ],
)
def test_a_loop_ends_at_its_bound_with_what_it_has(
    never: dict[str, str], route: list[str], retry: str, router: int
) -> None:
    ended, result = asked(decomposed({**GOOD, **never}))
    assert list(ended[0].asked) == ["index", *route]
    assert ended[0].retries == (retry, retry)
    assert ended[0].gave_up == retry
    assert ("Dunstaby" in ended[0].answer) == ("answer" in route)
    assert visits(result)[17] == 1
    assert figures(result, router)["retries"] == 2
    assert figures(result, router)["gave_up"] == 1


def test_bounds_are_kept_for_each_loop_apart() -> None:
    """Every grader refuses twice: six retries in all, none of them the third of its own loop."""
    script = {
        **GOOD,
        "relevance": ["no", "yes", "no", "yes", "yes"],
        "hallucination": ["yes", "no", "yes", "no"],
        "useful": ["no", "no", "yes"],
    }
    ended, _ = asked(decomposed(script))
    assert {why: ended[0].retries.count(why) for why in ended[0].retries} == {
        "relevance -> 18": 2,
        "hallucination -> 9": 2,
        "useful -> 18": 2,
    }
    assert ended[0].gave_up == ""


@pytest.mark.parametrize("models", ["inline", "thread"])
def test_questions_that_overlap_do_not_mix(models: str) -> None:
    """Each question has a script of its own; half of them run into a bound, in whatever order they are answered."""
    scripts = {
        n: {"relevance": "no"} if n % 2 else {"relevance": ["no"] * (n % 3) + ["yes"], "answer": f"answer {n}"}
        for n in range(24)
    }
    ended, result = asked(decomposed(GOOD, scripts, models), 24, ConcurrentLoadScheduler(8))
    for n, question in ended.items():
        assert question.number == n
        assert bool(question.gave_up) == bool(n % 2)
        assert len(question.retries) == (2 if n % 2 else n % 3)
        assert question.answer == ("" if n % 2 else f"answer {n}")
    calls = sum(len(question.asked) for question in ended.values())
    assert sum(figures(result, id)["calls"] for id in (1, 4, 7, 10, 12, 15, 19)) == calls
    assert figures(result, 0)["calls_per_question"] == calls / 24
    assert figures(result, 0)["gave_up"] == 0.5
    assert figures(result, 0)["retries_per_question"] == sum(len(q.retries) for q in ended.values()) / 24
