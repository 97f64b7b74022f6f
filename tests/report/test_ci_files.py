"""The bundled workflows: valid, and every `assay` in them is a command that exists, with options it has."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.cli.extras import requirement
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
    assert list(workflows) == [f"assay-{name}.yml" for name in ("comment", "nightly", "pull-request", "release")]
    # YAML 1.1 reads the key `on` as true.
    assert [set(w[True]) if isinstance(w[True], dict) else {w[True]} for w in workflows.values()] == [
        {"workflow_run"},
        {"schedule", "workflow_dispatch"},
        {"pull_request"},
        {"release"},
    ]


def test_their_commands_exist(workflows: dict[str, Any]) -> None:
    found = [words for workflow in workflows.values() for words in commands(workflow)]
    assert {words[0] for words in found} == {"ab", "run", "ci"}
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
    found = [words for name in occasions for words in assay_lines("\n".join(jobs[name]["script"]).splitlines())]
    assert [words[0] for words in found] == ["ab", "run", "run"]
    assert [words[0] for name in occasions for words in assay_lines(jobs[name].get("after_script", []))] == ["ci", "ci"]
    for words in found:
        assert parses(words), words
    assert "--allow-missing-base" in found[0]


def test_a_first_pull_request_needs_no_base(workflows: dict[str, Any]) -> None:
    [words] = [words for words in commands(workflows["assay-pull-request.yml"]) if words[0] == "ab"]
    assert "--allow-missing-base" in words


def test_nothing_from_outside_is_put_into_a_shell(workflows: dict[str, Any]) -> None:
    """A branch's or tag's name may hold anything: it reaches the shell only as a variable."""
    for name, workflow in workflows.items():
        for job in workflow["jobs"].values():
            assert not [step["run"] for step in job["steps"] if "${{" in str(step.get("run", ""))]
        comments = {"pull-requests": "write"} if name in ("assay-pull-request.yml", "assay-comment.yml") else {}
        reads = {"contents": "read", **({"actions": "read"} if name == "assay-comment.yml" else {})}
        assert workflow["permissions"] == {**reads, **comments}


def test_the_workflow_that_may_write_runs_nothing_of_a_fork(workflows: dict[str, Any]) -> None:
    """Its steps: Python, Assay, the artifact in a folder outside the checkout, the comment."""
    [job] = workflows["assay-comment.yml"]["jobs"].values()
    used = [step.get("uses", "").partition("@")[0] or step["run"] for step in job["steps"]]
    assert used == [
        "actions/setup-python",
        'pip install "$ASSAY_PACKAGE"',
        "actions/download-artifact",
        'assay ci "$RUNNER_TEMP/fork/verdict.json"',
    ]
    assert job["steps"][2]["with"]["path"] == "${{ runner.temp }}/fork"


def test_what_is_there_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path), "--ci"]) == 0
    assert main(["init", str(tmp_path), "--ci"]) == 2
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("there", "given", "run"),
    [
        ([], [], "--config assay.yaml"),
        (["assay.yaml"], [], "--config assay.yaml"),
        (["gate.yaml"], [], "--config gate.yaml"),
        (["gate.yaml", "assay.yaml"], [], "--config assay.yaml --config gate.yaml"),
        (["assay.yaml", "my bench.yaml"], ["--config", "my bench.yaml"], "--config 'my bench.yaml'"),
    ],
)
@pytest.mark.parametrize("scheduler", ["github", "gitlab", "slurm"])
def test_the_jobs_run_the_files_that_are_there(
    tmp_path: Path, there: list[str], given: list[str], run: str, scheduler: str
) -> None:
    for name in there:
        (tmp_path / name).write_text("entries: []\n")
    assert main(["init", str(tmp_path), "--ci", scheduler, *given]) == 0
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.parent != tmp_path]
    everything = "\n".join(path.read_text() for path in written)
    assert f" ab {run} --a" in everything
    assert "@@" not in everything
    assert "#%" not in everything
    for path in written:
        if path.suffix == ".yml":
            yaml.safe_load(path.read_text())


def test_config_files_that_no_runner_would_find(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outside = tmp_path / "x.yaml"
    outside.write_text("entries: []\n")
    for config, said in (("none.yaml", "there is no such file"), (str(outside), "from the top of the repository")):
        assert main(["init", str(tmp_path / "new"), "--ci", "--config", config]) == 2
        assert said in capsys.readouterr().err
    assert main(["init", str(tmp_path / "new"), "--ci-baseline", "stored"]) == 2
    assert "--ci-baseline is for the jobs of --ci" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("origin", "installed"),
    [
        (None, "assay-bench[profile]==9.9"),
        (
            {"url": "https://me:secret@git.example/a.git", "vcs_info": {"vcs": "git", "commit_id": "abc123"}},
            "assay-bench[profile] @ git+https://git.example/a.git@abc123",
        ),
        (
            {"url": "ssh://git@git.example/a.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}, "subdirectory": "b"},
            "assay-bench[profile] @ git+ssh://git@git.example/a.git@abc#subdirectory=b",
        ),
        (
            {"url": "https://files.example/a-9.9-py3-none-any.whl", "archive_info": {}},
            "assay-bench[profile] @ https://files.example/a-9.9-py3-none-any.whl",
        ),
        ({"url": "file:///elsewhere/a", "dir_info": {}}, "assay-bench[profile] @ file:///elsewhere/a"),
        ({"url": "{here}", "dir_info": {"editable": True}}, ".[profile]"),
        (
            {"url": "{here}/my%20wheels/a-9.9-py3-none-any.whl", "archive_info": {}},
            "./my wheels/a-9.9-py3-none-any.whl[profile]",
        ),
    ],
)
def test_assay_is_installed_from_where_this_copy_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, origin: dict[str, Any] | None, installed: str
) -> None:
    about = tmp_path / "site" / "assay_bench-9.9.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: assay-bench\nVersion: 9.9\n")
    if origin:
        (about / "direct_url.json").write_text(json.dumps(origin).replace("{here}", tmp_path.as_uri()))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert requirement(tmp_path, "profile") == installed
    assert requirement(tmp_path) == installed.replace("[profile]", "")
    (tmp_path / "assay.yaml").write_text("entries: []\n")
    assert main(["init", str(tmp_path), "--ci"]) == 0
    for name in ("pull-request", "comment", "nightly"):
        workflow = yaml.safe_load((tmp_path / f".github/workflows/assay-{name}.yml").read_text())
        assert workflow["env"] == {"ASSAY_PACKAGE": requirement(tmp_path)}
        jobs = [[step.get("uses", "").partition("@")[0] for step in job["steps"]] for job in workflow["jobs"].values()]
        # A path inside the repository needs the repository.
        assert all(("actions/checkout" in steps) or not installed.startswith(".") for steps in jobs)
