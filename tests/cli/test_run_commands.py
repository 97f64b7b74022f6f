"""`assay run -- A -- B`: what the words mean together, and what is kept of them."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path

import pytest
from workplace import Workplace

from assay.api.run_inputs import RunInputs
from assay.cli import run
from assay.cli.run import _inputs
from assay.errors import UsageError

SECRET = "hunter2-and-more"


def parsed(*words: str, after: list[str]) -> Namespace:
    parser = ArgumentParser()
    run.arguments(parser)
    args = parser.parse_args(list(words))
    args.after = after
    return args


def inputs(*words: str, after: list[str]) -> RunInputs:
    return _inputs(parsed(*words, after=after))


def started(*words: str, after: list[str]) -> list[list[str]]:
    plan = inputs(*words, after=after).plan()
    return [[*entry.program, *entry.arguments({})] for entry in plan.entries]


def test_each_dash_dash_begins_another_command() -> None:
    assert started(after=["a", "1", "--", "b", "2", "--", "c"]) == [["a", "1"], ["b", "2"], ["c"]]


def test_a_quoted_line_is_split_and_keeps_its_own_dash_dash() -> None:
    assert started(after=["cargo bench -- --quick", "--", "true"]) == [["cargo", "bench", "--", "--quick"], ["true"]]
    assert started(after=["sleep 0.1"]) == [["sleep", "0.1"]]


def test_a_program_with_a_space_in_its_name_is_that_program(tmp_path: Path) -> None:
    program = tmp_path / "my tool"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert started(after=[str(program)]) == [[str(program)]]


def test_words_for_a_shell_are_one_script() -> None:
    assert started("--shell", after=["a | b", "--", "echo", "x y"]) == [
        ["sh", "-c", "a | b"],
        ["sh", "-c", "echo 'x y'"],
    ]
    assert started("--shell", "bash", after=["a"]) == [["bash", "-c", "a"]]


@pytest.mark.parametrize(
    ("words", "after", "says"),
    [
        ((), ["a", "--"], "a command is missing after `--`"),
        (("--shell",), [], "give one of: --config FILE"),
        (("--parameter-scan", "n", "3", "1"), ["a", "{n}"], "MIN must not be above MAX"),
        (("--parameter", "n", "1"), ["a"], "no command has {n}"),
        (("--runs", "0"), ["a"], "--runs must be at least 1"),
        ((), ["a 'b"], "cannot be split into words: No closing quotation"),
    ],
)
def test_what_cannot_be_run_is_one_message(words: tuple[str, ...], after: list[str], says: str) -> None:
    with pytest.raises(UsageError) as error:
        inputs(*words, after=after).plan()
    assert says in str(error.value)


def test_what_is_kept_makes_the_same_plan_again() -> None:
    given = inputs(
        "--runs", "3", "--prepare", "p {n}", "--cleanup", "c", "--parameter", "n", "1,2", "--shell",
        after=["a {n} | b", "--", "d"],
    )  # fmt: skip
    again = RunInputs.from_json(given.to_json())
    assert again == given
    assert replace(again.plan(), inputs={}) == replace(given.plan(), inputs={})
    assert given.plan().commands


def test_commands_are_a_session_like_any_other(workplace: Workplace) -> None:
    answer = workplace.assay("run", "--runs", "2", "--parameter", "n", "1,2", "--", "echo {n}", "--", "true")
    assert answer.code == 0
    [folder] = workplace.sessions()
    records = folder.records()
    assert sorted((record.name, record.repeat) for record in records) == [
        (name, repeat) for name in ("echo-n=1", "echo-n=2", "true") for repeat in (1, 2)
    ]
    assert {record.name: record.script_params for record in records}["echo-n=2"] == {"n": "2"}
    assert folder.report.is_file()
    shown = workplace.assay("show").out
    assert shown.startswith(f"{folder.path.name}\n\ncommand ")
    assert shown.partition("\n\n")[2].rstrip() == answer.out.partition("\n\nReport: ")[0].rstrip()
    again = workplace.assay("run", "--resume", "latest")
    assert "is complete" in again.out
    answer = workplace.assay("run", "--runs", "2", "--parameter", "n", "1,2", "--", "echo {n}", "--", "true")
    assert "vs last time\n" in answer.out


def test_a_command_that_fails_is_said_first_and_the_others_are_measured(workplace: Workplace) -> None:
    answer = workplace.assay("run", "--runs", "2", "--", "false", "--", "true")
    assert answer.code == 1
    assert answer.out.startswith("✗ false: failed\n  exited with code 1\n")
    assert "  true  " in answer.out


def test_secrets_in_scripts_and_preparations_are_not_kept(workplace: Workplace) -> None:
    workplace.assay(
        "run", "--runs", "1", "--shell", "--prepare", f"echo --password {SECRET}",
        "--cleanup", f"API_KEY={SECRET} true", "--", f"echo --token {SECRET} | cat",
    )  # fmt: skip
    [folder] = workplace.sessions()
    assert folder.records()[0].success
    for place, _, names in os.walk(folder.path):
        for name in names:
            assert SECRET.encode() not in (Path(place) / name).read_bytes(), name
