from __future__ import annotations

import pytest

from assay.api.command_lines import CommandLines
from assay.config.entry import Entry, Parameter
from assay.errors import UsageError


def entries(*lines: str, **more: object) -> list[Entry]:
    return list(CommandLines(lines, 60.0, **more).entries())  # type: ignore[arg-type]


def argv(entry: Entry) -> list[str]:
    return [*entry.program, *entry.arguments({})]


def test_commands_are_named_for_their_programs() -> None:
    assert [entry.name for entry in entries("./parse-a big.json", "/opt/parse-b big.json")] == ["parse-a", "parse-b"]


def test_commands_of_one_program_are_named_for_their_words() -> None:
    names = [entry.name for entry in entries("python3 a.py", "python3 b.py -q")]
    assert names == ["python3-a.py", "python3-b.py-q"]


def test_no_name_is_given_twice() -> None:
    names = [entry.name for entry in entries("true", "true", "true.2", "true")]
    assert len(set(names)) == 4


def test_braces_that_are_no_parameter_reach_the_program() -> None:
    [entry] = entries("awk '{print}' {n}", parameters=(Parameter("n", ("f",)),))
    assert argv(entry) == ["awk", "{print}", "f"]


def test_a_value_with_spaces_stays_one_argument() -> None:
    [entry] = entries("cat {file}", parameters=(Parameter("file", ("my data; rm x",)),))
    assert argv(entry) == ["cat", "my data; rm x"]


def test_each_value_is_an_entry_whose_records_have_it() -> None:
    found = entries("sort -j {n}", parameters=(Parameter("n", ("1", "2")),))
    assert [(entry.name, dict(entry.parameters)) for entry in found] == [
        ("sort-n=1", {"n": "1"}),
        ("sort-n=2", {"n": "2"}),
    ]


def test_a_command_without_the_parameter_is_run_once() -> None:
    found = entries("sort -j {n}", "sort", parameters=(Parameter("n", ("1", "2")),))
    assert [argv(entry) for entry in found] == [["sort", "-j", "1"], ["sort", "-j", "2"], ["sort"]]


def test_a_parameter_that_no_command_has_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"no command has \{m\}"):
        entries("sort {n}", parameters=(Parameter("m", ("1",)),))


def test_what_is_done_around_a_run_has_the_values_too() -> None:
    [entry] = entries("cat x{n}", prepare=("touch x{n}",), cleanup=("rm x{n}",), parameters=(Parameter("n", ("7",)),))
    assert (entry.prepare, entry.cleanup) == (("touch", "x7"), ("rm", "x7"))


def test_one_preparation_for_all_or_one_for_each() -> None:
    assert [entry.prepare for entry in entries("a", "b", prepare=("x",))] == [("x",), ("x",)]
    assert [entry.prepare for entry in entries("a", "b", prepare=("x", "y"))] == [("x",), ("y",)]
    with pytest.raises(UsageError, match="--prepare is given 2 times for 3 commands: give it once, or once for each"):
        entries("a", "b", "c", prepare=("x", "y"))


def test_a_shell_runs_only_where_one_is_named() -> None:
    assert argv(entries("echo a | wc")[0]) == ["echo", "a", "|", "wc"]
    [entry] = entries("echo {n} | wc", shell="sh", prepare=("a; b",), parameters=(Parameter("n", ("1",)),))
    assert argv(entry) == ["sh", "-c", "echo 1 | wc"]
    assert entry.prepare == ("sh", "-c", "a; b")


def test_a_quote_that_is_not_closed_is_said_so() -> None:
    with pytest.raises(UsageError, match=r"--prepare .* cannot be split into words: No closing quotation"):
        entries("true", prepare=("echo 'x",))


def test_an_empty_command_is_an_error() -> None:
    with pytest.raises(UsageError, match="the command is empty"):
        entries("")
