"""The bundled workflows: valid, and every `assay` in them is a command that exists, with options it has."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.cli.main import _find_command, _parser, main


@pytest.fixture
def workflows(tmp_path: Path) -> dict[str, Any]:
    assert main(["init", str(tmp_path), "--ci"]) == 0
    found = sorted((tmp_path / ".github/workflows").glob("*.yml"))
    return {path.name: yaml.safe_load(path.read_text()) for path in found}


def commands(workflow: dict[str, Any]) -> Iterator[list[str]]:
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            yield from assay_lines(str(step.get("run", "")).splitlines())


def assay_lines(lines: list[str]) -> Iterator[list[str]]:
    """Their words, without the command's name and where the output goes."""
    for line in lines:
        words = shlex.split(re.sub(r"\$\w+", "x", line))
        if words[:1] == ["assay"]:
            yield words[1 : words.index(">") if ">" in words else None]


def parses(words: list[str]) -> bool:
    """argparse exits on a word it does not know."""
    return _parser(_find_command(words)).parse_args(words) is not None


def test_there_is_one_for_each_occasion(workflows: dict[str, Any]) -> None:
    assert list(workflows) == ["assay-nightly.yml", "assay-pull-request.yml", "assay-release.yml"]
    # YAML 1.1 reads the key `on` as true.
    assert [set(w[True]) if isinstance(w[True], dict) else {w[True]} for w in workflows.values()] == [
        {"schedule", "workflow_dispatch"},
        {"pull_request"},
        {"release"},
    ]


def test_their_commands_exist(workflows: dict[str, Any]) -> None:
    found = [words for workflow in workflows.values() for words in commands(workflow)]
    assert {words[0] for words in found} == {"ab", "run", "report", "history"}
    for words in found:
        assert parses(words), words


def test_gitlab_has_the_same_occasions(tmp_path: Path) -> None:
    assert main(["init", str(tmp_path), "--ci", "gitlab"]) == 0
    jobs = yaml.safe_load((tmp_path / ".gitlab/assay.yml").read_text())
    occasions = {name: job["rules"][0]["if"] for name, job in jobs.items() if "rules" in job}
    assert occasions == {
        "assay-merge-request": '$CI_PIPELINE_SOURCE == "merge_request_event"',
        "assay-nightly": '$CI_PIPELINE_SOURCE == "schedule"',
        "assay-nightly-finish": '$CI_PIPELINE_SOURCE == "schedule"',
        "assay-release": "$CI_COMMIT_TAG",
    }
    found = [words for name in occasions for words in assay_lines(jobs[name]["script"])]
    assert [words[0] for words in found] == ["ab", "run", "run"]
    for words in found:
        assert parses(words), words
    assert "--allow-missing-base" in found[0]


def test_a_first_pull_request_needs_no_base(workflows: dict[str, Any]) -> None:
    [words] = [words for words in commands(workflows["assay-pull-request.yml"]) if words[0] == "ab"]
    assert "--allow-missing-base" in words


def test_nothing_from_outside_is_put_into_a_shell(workflows: dict[str, Any]) -> None:
    """A branch's or tag's name may hold anything: it reaches the shell only as a variable."""
    for workflow in workflows.values():
        for job in workflow["jobs"].values():
            assert not [step["run"] for step in job["steps"] if "${{" in str(step.get("run", ""))]
        assert workflow["permissions"] == {"contents": "read"}


def test_what_is_there_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path), "--ci"]) == 0
    assert main(["init", str(tmp_path), "--ci"]) == 2
    assert "exists already" in capsys.readouterr().err
