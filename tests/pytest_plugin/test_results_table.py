from __future__ import annotations

from assay.pytest_plugin.fixture import MeasuredTest
from assay.pytest_plugin.results_table import ResultsTable


def measured(name: str, *samples: float, group: str | None = None, failed: str = "", **params: str) -> MeasuredTest:
    return MeasuredTest(f"tests/test_it.py::{name}", 0.0, 1.0, "w", group, params, {}, samples, 10, failed)


SLOW = measured("test_join[100]", 0.0021, 0.0022, 0.0020, 0.0021, 0.0021, n="100")
QUICK = measured("test_join[1]", 21e-6, 22e-6, 20e-6, 21e-6, 21e-6, n="1")
ODD = measured("test_split[1]", 1e-7, 1e-7, 1.01e-7, 0.99e-7, 1e-7, 1e-4, group="split", failed="boom", n="1")


def test_a_wide_terminal_shows_every_column() -> None:
    lines = ResultsTable(width=120).lines([SLOW, QUICK])
    assert lines[0].split() == ["test", *["min", "max", "mean", "stddev", "median", "iqr", "outliers", "ops", "rounds"]]
    assert [line.split()[0] for line in lines[1:]] == ["test_join[1]", "test_join[100]"]
    assert "21 µs" in lines[1]
    assert "47.6 k/s" in lines[1]
    assert "2.1 ms" in lines[2]
    assert max(map(len, lines)) <= 120


def test_80_columns_are_enough_and_what_is_left_out_is_said() -> None:
    long = measured("test_with_a_rather_long_name_that_goes_on[and-a-parameter-7]", 1e-3, 2e-3, 3e-3)
    lines = ResultsTable(width=80).lines([SLOW, long])
    assert max(map(len, lines)) <= 80
    assert "median" in lines[0]
    assert lines[-1].startswith("no room for iqr, ")
    assert any(line.startswith("test_with") and "7]" in line for line in lines)


def test_columns_that_were_asked_for_are_shown_however_wide() -> None:
    [head, *_] = ResultsTable(columns=("median", "iterations", "max"), width=20).lines([SLOW])
    assert head.split() == ["test", "median", "iterations", "max"]


def test_sorted_by_what_was_asked() -> None:
    def order(sort: str) -> list[str]:
        return [line.split()[0] for line in ResultsTable(sort=sort, width=120).lines([SLOW, QUICK])[1:]]

    assert order("median") == order("ops") == ["test_join[1]", "test_join[100]"]
    assert order("name") == ["test_join[1]", "test_join[100]"]
    assert order("rounds") == ["test_join[100]", "test_join[1]"]


def test_a_table_a_group() -> None:
    def heads(group_by: str) -> list[str]:
        lines = ResultsTable(group_by=group_by, width=120).lines([SLOW, QUICK, ODD])
        return [line for line in lines if line and "  " not in line]

    assert heads("group") == ["split"]
    assert heads("func") == ["test_join", "test_split"]
    assert heads("file") == ["tests/test_it.py"]
    assert heads("param:n") == ["n=100", "n=1"]
    assert heads("param") == ["n=100", "n=1"]


def test_a_failed_test_and_an_outlier_show() -> None:
    [_, _, row] = ResultsTable(width=120).lines([ODD])
    assert row.startswith("test_split[1] (failed)")
    assert row.split()[-4] == "1"  # of six rounds, one stands apart


def test_one_round_has_no_spread() -> None:
    [_, row] = ResultsTable(width=120, columns=("median", "stddev", "iqr")).lines([measured("test_once", 1.5)])
    assert row.split() == ["test_once", "1.5", "s", "–", "–"]


def test_names_of_two_files_are_told_apart() -> None:
    other = MeasuredTest("tests/test_other.py::test_join[1]", 0.0, 1.0, "w", None, {}, {}, (1e-3,), 1)
    lines = ResultsTable(width=120).lines([QUICK, other])
    assert {line.split()[0] for line in lines[1:]} == {
        "tests/test_it.py::test_join[1]",
        "tests/test_other.py::test_join[1]",
    }


def test_nothing_timed_is_no_table() -> None:
    assert ResultsTable().lines([measured("test_counts")]) == []
