"""Every sentence about two commands, and that none of them says more than its verdict."""

from __future__ import annotations

import pytest
from made_commands import made_runs, made_times

from assay.analysis import Row, Verdict
from assay.analysis.ranking import RankedEntry, entry_ranking
from assay.report.text.ranking import against_words, ranking_lines, relative_words

LABELS = {"a": "./a", "b": "./b"}


def said(row: Row | None) -> str:
    fastest, other = RankedEntry("a", ()), RankedEntry("b", (), row)
    return against_words(fastest, other, LABELS)


def row(
    verdict: Verdict, ratio: float = 1.78, low: float | None = 1.74, high: float | None = 1.82, runs: int = 20
) -> Row:
    return Row(
        "a/b", "exec_time_s", verdict, "the reason", ratio=ratio, low=low, high=high, base_runs=runs, head_runs=runs
    )


@pytest.mark.parametrize(
    ("judged", "sentence"),
    [
        (
            row(Verdict.REGRESSED),
            "./a is 1.78 ± 0.04 times faster than ./b (95%, 20 rounds in random order)",
        ),
        (
            row(Verdict.IMPROVED, 0.8, 0.75, 0.85),
            "./b is 1.25 ± 0.08 times faster than ./a (95%, 20 rounds in random order)",
        ),
        (
            row(Verdict.EQUIVALENT, 1.01, 0.99, 1.02),
            "./a and ./b are equally fast: the reason (95%, 20 rounds in random order)",
        ),
        (
            row(Verdict.INCONCLUSIVE, 1.1, 0.9, 1.3),
            "./a and ./b: can't tell which is faster from 20 runs of each: the reason",
        ),
        (
            row(Verdict.REGRESSED, 1.0, 0.98, 1.02),  # by runs that are slow now and then: no factor holds
            "./a and ./b: can't tell which is faster from 20 runs of each: the reason",
        ),
        (row(Verdict.INCONCLUSIVE, runs=5), "./a and ./b: can't tell which is faster from 5 runs of each; try --runs 10"),  # noqa: E501
        (row(Verdict.INCONCLUSIVE, runs=1), "./a and ./b: can't tell which is faster from 1 run of each; try --runs 10"),  # noqa: E501
        (None, "./a and ./b: no round has a run of both, so they cannot be compared"),
    ],
)  # fmt: skip
def test_sentences(judged: Row | None, sentence: str) -> None:
    assert said(judged) == sentence


def test_the_relative_column() -> None:
    fastest = RankedEntry("a", tuple(made_runs("a", "a", [1.0] * 3)))
    slower = tuple(made_runs("b", "b", [2.0] * 3))
    assert relative_words(fastest, fastest) == "1.00"
    assert relative_words(fastest, RankedEntry("b", slower, row(Verdict.REGRESSED))) == "1.78 (1.74 … 1.82)"
    assert relative_words(fastest, RankedEntry("b", slower, row(Verdict.INCONCLUSIVE, 1.1, None, None))) == "1.10"
    assert relative_words(fastest, RankedEntry("b", slower)) == "2.00"


def many(count: int) -> list[RankedEntry]:
    runs = [run for at in range(count) for run in made_runs(f"c{at:02d}", "c", made_times(0.1 + at, 0.01, count=6))]
    return list(entry_ranking(runs))


def test_of_many_commands_the_first_few_are_told() -> None:
    ranked = many(14)
    lines = ranking_lines(ranked, {one.name: one.name for one in ranked})
    assert len(lines) == 11
    assert lines[0].startswith("c00 is 10.89 ± ")
    assert lines[-1] == "and 3 more: the table has their intervals"


def test_too_many_are_not_compared_and_that_is_said() -> None:
    ranked = many(41)
    assert all(one.against is None for one in ranked)
    assert ranking_lines(ranked, {}) == ["41 commands are more than the 40 that are compared with each other"]


def test_one_command_is_compared_with_nothing() -> None:
    assert ranking_lines(many(1), {}) == []
