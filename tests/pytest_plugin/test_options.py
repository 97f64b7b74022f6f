from __future__ import annotations

from argparse import ArgumentParser, Namespace
from types import SimpleNamespace
from typing import Any

import pytest

from assay.pytest_plugin.options import add_options


def parsed(*arguments: str) -> Namespace:
    parser = ArgumentParser()
    group: Any = SimpleNamespace(addoption=parser.add_argument)
    asked: Any = SimpleNamespace(getgroup=lambda name: group)
    add_options(asked)
    return parser.parse_args(arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--assay-rounds", "0"], "'0' is no whole number of at least 1"),
        (["--assay-rounds", "2.5"], "'2.5' is no whole number of at least 1"),
        (["--assay-max-time", "soon"], "'soon' is no number of seconds above 0"),
        (["--assay-max-time", "inf"], "'inf' is no number of seconds above 0"),
        (["--assay-columns", "median,mad"], "unknown column 'mad'"),
        (["--assay-sort", "medain"], "did you mean 'median'?"),
        (["--assay-group-by", "colour"], "unknown grouping 'colour'"),
        (["--assay-group-by", "param:"], "unknown grouping 'param:'"),
        (["--assay-gate", "tests/"], "'tests/' is no percentage above 0; write --assay-gate=5, or put it last"),
        (["--assay-gate=0"], "'0' is no percentage above 0"),
    ],
)
def test_what_cannot_be_is_said(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed(*arguments)
    assert said in capsys.readouterr().err


def test_what_can_be_is_read() -> None:
    given = parsed("--assay-columns", "Median, ops", "--assay-sort=ops", "--assay-group-by=param:n", "--assay-rounds=3")
    assert given.assay_columns == ("median", "ops")
    assert (given.assay_sort, given.assay_group_by, given.assay_rounds) == ("ops", "param:n", 3)
    assert parsed().assay_columns is None
    assert [parsed(*words).assay_gate for words in ([], ["--assay-gate"], ["--assay-gate=10%"])] == [None, 0.05, 0.1]
