"""What a terminal says of colocated runs is true of them."""

from __future__ import annotations

import pytest
from made_runs import group, one_after_the_other, pipeline

from assay.loadgen.colocation.colocation import ColocatedRun, Matrix
from assay.loadgen.colocation.round_ratio import RoundRatio
from assay.loadgen.colocation.slowdown import Slowdown
from assay.loadgen.colocation.tables import cell_text, matrix_text, run_text


def told(*ratios: float, error: float = 0.02) -> str:
    return cell_text(Slowdown("throughput", None, tuple(RoundRatio(1.0, ratio, error, 20) for ratio in ratios)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (told(1.5), "1.50 [1.44, 1.56] slower this time"),
        (told(0.5), "0.50 [0.48, 0.52] faster this time"),
        (told(1.01), "1.01 [0.97, 1.05] inconclusive"),
        (told(1.5, 1.52, 1.48), "1.50 [1.45, 1.55] slower"),
        (told(1.0, 40.0), "6.32 [<0.1, >100] inconclusive"),
        (cell_text(Slowdown("p99", None, (), "too few")), "–"),
    ],
)
def test_a_cell_says_what_its_interval_can(text: str, words: str) -> None:
    assert text == words


def matrix(count: int) -> Matrix:
    costs = [1.0 + 0.01 * (n % 7) for n in range(count)]
    alone = group(pipeline("a", one_after_the_other(costs), {0: [(0, 0.0, 1.0)]}))
    slow = one_after_the_other([2 * cost for cost in costs])
    copies = group(pipeline("a", slow, {0: [(0, 0.0, 2.0)]}), pipeline("a (copy)", slow))
    runs = (ColocatedRun("solo-a", alone), ColocatedRun("a+a", copies))
    return Matrix(("a",), (("a", "a"),), runs, {"a": [alone]}, {("a", "a"): [copies]})


def test_the_matrix_with_its_diagonal_and_its_window() -> None:
    text = matrix_text(matrix(200))
    assert "== a + a (copy)\nwhile all ran together (0.412 s: 100% of a's run, 100% of a (copy)'s run)" in text
    assert "a beside its own copy (1 round 0.412 s together; alone, the same queries)" in text
    last = text[text.index("== who slows whom") :]
    assert "a  2.00 [2.00, 2.00] slower this time" in last
    assert "95% intervals of one round" in last


def test_what_could_not_be_compared_is_said_under_the_matrix() -> None:
    text = matrix_text(matrix(50))
    assert "no p99 latency of a beside its own copy: 50 queries can be compared, 100 are needed" in text


def test_a_run_alone_is_not_called_together() -> None:
    text = run_text(group(pipeline("a", one_after_the_other([1.0] * 50), {0: [(0, 0.0, 1.0)]})))
    assert "together" not in text
    assert "warning" not in text
