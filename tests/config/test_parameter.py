from __future__ import annotations

import pytest

from assay.config.entry import Parameter, combinations, fill
from assay.errors import UsageError


def test_values_in_a_list() -> None:
    assert Parameter.listed("n", "1,2,4").values == ("1", "2", "4")
    assert Parameter.listed("n", r"a\,b,c").values == ("a,b", "c")
    assert Parameter.listed("n", "2,2,1").values == ("2", "1")


def test_what_a_session_keeps_is_what_was_given() -> None:
    for given in (Parameter.listed("n", r"a\,b,c"), Parameter.scanned(["x", "0", "1", "0.25"])):
        assert Parameter.parse(given.line) == given


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["n", "1", "4"], ("1", "2", "3", "4")),
        (["n", "0.1", "0.3", "0.1"], ("0.1", "0.2", "0.3")),
        (["n", "1", "10", "4"], ("1", "5", "9")),
        (["n", "-2", "-2"], ("-2",)),
        (["n", "1E1", "3E1", "1e1"], ("10", "20", "30")),
    ],
)
def test_a_scan_has_both_ends_and_exact_steps(words: list[str], values: tuple[str, ...]) -> None:
    assert Parameter.scanned(words).values == values


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["n"], "write NAME MIN MAX"),
        (["n", "1", "2", "3", "4"], "write NAME MIN MAX"),
        (["n", "one", "2"], "are numbers"),
        (["n", "2", "1"], "MIN must not be above MAX"),
        (["n", "1", "2", "0"], "STEP must be above 0"),
        (["n", "1", "inf"], "MIN must not be above MAX"),
        (["n", "0", "1", "1e-9"], "at most 1,000"),
        (["1n", "0", "1"], "begins with a letter"),
    ],
)
def test_a_scan_that_cannot_be_is_said_so(words: list[str], says: str) -> None:
    with pytest.raises(UsageError, match="--parameter-scan") as error:
        Parameter.scanned(words)
    assert says in str(error.value)


def test_an_empty_value_is_an_error() -> None:
    with pytest.raises(UsageError, match="commas between them"):
        Parameter.listed("n", "1,,2")


def test_each_value_with_each() -> None:
    both = list(combinations([Parameter("a", ("1", "2")), Parameter("b", ("x", "y"))]))
    assert both == [{"a": "1", "b": "x"}, {"a": "1", "b": "y"}, {"a": "2", "b": "x"}, {"a": "2", "b": "y"}]
    assert list(combinations([])) == [{}]
    with pytest.raises(UsageError, match="given twice"):
        list(combinations([Parameter("a", ("1",)), Parameter("a", ("2",))]))


def test_only_known_names_are_replaced() -> None:
    assert fill("awk '{print $1}' {n} {m}", {"n": "3"}) == "awk '{print $1}' 3 {m}"
