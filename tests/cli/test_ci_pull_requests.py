"""A pull request as CI measures it: every shell step of the files that `assay init --ci` writes, in clean folders."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from code_host import READ_ONLY, WRITING, CodeHost, code_host
from workplace import Workplace

from assay.cli.main import main

CONFIG = """
results_dir: results
entries:
  - {name: spin, script: spin.py, repeat: 6}
"""
# A margin, so that ten pairs decide, whatever else this machine does: a job that leaves this file out would need more.
GATE = """
metrics: {cpu_ms: {margin: 40%}, exec_time_s: {judged: false}, usage.cpu_s: {judged: false}}
entries:
  - name: spin
    requirements: [{metric: cpu_ms, min_value: 0}]
"""
SPIN = """
import time
from pathlib import Path
import assay

TIMES = int(Path(__file__).with_name("work.txt").read_text())

with assay.benchmark() as b:
    begun = time.process_time()
    sum(i * i for i in range(400_000 * TIMES))
    b.metric("cpu_ms", (time.process_time() - begun) * 1000, unit="ms", better="lower")
"""
Steps = dict[str, tuple[int, str]]
"""Exit code and output of each step, by its name."""


@pytest.fixture
def host() -> Iterator[CodeHost]:
    with code_host() as host:
        yield host


class Project:
    """A repository with a base and a head commit, and runners that clone it."""

    def __init__(self, place: Workplace, *words: str) -> None:
        self.place = place
        self.origin = place.folder / "origin"
        self.origin.mkdir()
        self._runs = 0
        for name, text in (
            ("assay", f'#!/bin/sh\nexec {sys.executable} -m assay "$@"\n'),
            ("pip", '#!/bin/sh\nfor word in "$@"; do echo "pip got [$word]"; done\n'),
        ):
            place.write(f"bin/{name}", text).chmod(0o755)
        place.environment["PATH"] = f"{place.folder / 'bin'}:{os.environ['PATH']}"
        self.git("init", "--quiet", "--initial-branch", "main")
        self.write("assay.yaml", CONFIG)
        self.write("gate.yaml", GATE)
        assert main(["init", str(self.origin), "--ci", *words]) == 0
        self.base = self.commit(1)

    def write(self, name: str, text: str) -> None:
        (self.origin / name).write_text(text)

    def git(self, *words: str) -> str:
        named = ["-c", "user.name=me", "-c", "user.email=me@localhost"]
        done = subprocess.run(["git", *named, *words], cwd=self.origin, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, times: int, note: str = "") -> str:
        self.write("spin.py", SPIN)
        self.write("work.txt", str(times))
        self.write("note.txt", f"{note}\n")
        self.git("add", ".")
        self.git("commit", "--quiet", "--allow-empty", "-m", f"{times} times the work")
        return self.git("rev-parse", "HEAD")

    def workflow(self, name: str) -> dict[str, Any]:
        loaded = yaml.safe_load((self.origin / ".github/workflows" / f"assay-{name}.yml").read_text())
        assert isinstance(loaded, dict)
        return loaded

    def runner(self, commit: str) -> Path:
        """A clean machine that has this commit checked out."""
        self._runs += 1
        folder = self.place.folder / f"runner-{self._runs}" / "work"
        folder.parent.mkdir()
        subprocess.run(["git", "clone", "--quiet", str(self.origin), str(folder)], check=True)
        subprocess.run(["git", "checkout", "--quiet", commit], cwd=folder, check=True, capture_output=True)
        return folder

    def bash(self, script: str, folder: Path, variables: Mapping[str, str]) -> tuple[int, str]:
        """As GitHub runs a step, and GitLab a script."""
        done = subprocess.run(
            ["bash", "-e", "-c", script], cwd=folder, env={**self.place.environment, **variables},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=300,
        )  # fmt: skip
        assert "Traceback" not in done.stdout, done.stdout
        return done.returncode, done.stdout

    def github(self, name: str, folder: Path, event: dict[str, Any], variables: Mapping[str, str]) -> Steps:
        """The job of a workflow. After a step that fails, only those with always() are run."""
        workflow = self.workflow(name)
        [job] = workflow["jobs"].values()
        (folder.parent / "event.json").write_text(json.dumps(event))
        known = {
            "GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "me/bench", "GITHUB_RUN_ID": "5",
            "GITHUB_SERVER_URL": "https://host.example", "GITHUB_EVENT_PATH": str(folder.parent / "event.json"),
            "GITHUB_STEP_SUMMARY": str(folder.parent / "summary.md"), "RUNNER_TEMP": str(folder.parent / "temp"),
            "GITHUB_WORKFLOW": workflow["name"], **workflow.get("env", {}), **variables,
        }  # fmt: skip
        done: Steps = {}
        for step in job["steps"]:
            if "run" not in step:
                continue
            if any(code for code, _ in done.values()) and "always()" not in str(step.get("if", "")):
                continue
            own = {key: _filled(value, event, known) for key, value in step.get("env", {}).items()}
            done[step["name"]] = self.bash(step["run"], folder, {**known, **own})
        return done

    def pull_request(self, head: str, host: CodeHost, token: str = WRITING) -> tuple[Steps, Path]:
        folder = self.runner(head)
        pull = {"number": 7, "base": {"sha": self.git("rev-parse", "main")}, "head": {"sha": head}}
        variables = {"GITHUB_API_URL": host.url, "GITHUB_EVENT_NAME": "pull_request", "token": token}
        return self.github("pull-request", folder, {"pull_request": pull}, variables), folder


def _filled(value: str, event: Mapping[str, Any], known: Mapping[str, str]) -> str:
    """An expression of the workflow's: `${{ github.event.… }}` or the token."""

    def meant(found: re.Match[str]) -> str:
        if found[1] == "github.token":
            return known["token"]
        inner: Any = {"github": {"event": event}}
        for key in found[1].split("."):
            inner = inner[key]
        return str(inner)

    return re.sub(r"\$\{\{ (\S+) \}\}", meant, value)


@pytest.fixture
def project(workplace: Workplace) -> Project:
    return Project(workplace)


@pytest.mark.slow
def test_a_pull_request_is_green_then_red_in_one_comment(project: Project, host: CodeHost) -> None:
    host.add("Nice work!", "somebody")
    project.git("switch", "--quiet", "--create", "topic")
    same = project.commit(1, "only a note")

    steps, folder = project.pull_request(same, host)
    assert {name: code for name, (code, _) in steps.items()} == {"Install": 0, "Compare": 0, "Report": 0}, steps
    assert "pip got [assay-bench @ file:" in steps["Install"][1]
    assert steps["Report"][1].startswith("::notice title=Assay::no regression: "), steps
    assert "### no regression" in (folder.parent / "summary.md").read_text()
    [_, comment] = host.comments
    assert "🟢" in comment["body"]
    assert "(https://host.example/me/bench/actions/runs/5)" in comment["body"]

    # The base moves on meanwhile: what counts is the commit that the topic branched from.
    project.git("switch", "--quiet", "main")
    project.commit(9, "the base does more")
    project.git("switch", "--quiet", "topic")
    slower = project.commit(3)
    steps, folder = project.pull_request(slower, host)
    assert {name: code for name, (code, _) in steps.items()} == {"Install": 0, "Compare": 3, "Report": 0}, steps
    assert steps["Report"][1].startswith("::error title=Assay::regressed: spin cpu_ms: ")
    assert "the comment on the pull request was updated" in steps["Report"][1]
    [first, comment] = host.comments
    assert first["body"] == "Nice work!"
    assert "🔴" in comment["body"]
    assert "cpu_ms" in comment["body"]
    assert "**regressed**" in comment["body"]
    assert "cpu_ms" in (folder.parent / "summary.md").read_text()


@pytest.mark.slow
def test_a_fork_is_told_by_the_second_workflow(project: Project, host: CodeHost) -> None:
    project.git("switch", "--quiet", "--create", "topic")
    head = project.commit(3)
    steps, folder = project.pull_request(head, host, READ_ONLY)
    assert {name: code for name, (code, _) in steps.items()} == {"Install": 0, "Compare": 3, "Report": 0}, steps
    assert "A fork's token is read-only; the workflow of assay-comment.yml posts for it" in steps["Report"][1]
    assert host.comments == []

    comment = project.workflow("comment")
    assert comment[True]["workflow_run"]["workflows"] == [project.workflow("pull-request")["name"]]
    host.pulls = [
        {"number": 6, "head": {"label": "them:topic", "sha": project.base}},
        {"number": 7, "head": {"label": "them:topic", "sha": head}},
        {"number": 8, "head": {"label": "me:topic", "sha": head}},
    ]
    second = project.place.folder / "second" / "work"
    (second.parent / "temp/fork").mkdir(parents=True)
    second.mkdir()
    shutil.copy(folder / "verdict.json", second.parent / "temp/fork")
    for _ in "12":
        steps = project.github("comment", second, _fork_event(head), _second(host))
        assert {name: code for name, (code, _) in steps.items()} == {"Install": 0, "Comment": 0}, steps
    [posted] = host.comments
    assert "cpu_ms" in posted["body"]
    assert "Measured by the pull request's own job, in a fork." in posted["body"]
    assert not any("/6/" in request or "/8/" in request for request in host.requests)


def _fork_event(head: str) -> dict[str, Any]:
    owner = {"owner": {"login": "them"}}
    run = {"name": "benchmarks of a pull request", "html_url": "https://host.example/run/5"}
    return {"workflow_run": {**run, "head_sha": head, "head_branch": "topic", "head_repository": owner}}


def _second(host: CodeHost) -> dict[str, str]:
    return {"GITHUB_API_URL": host.url, "GITHUB_EVENT_NAME": "workflow_run", "token": WRITING}


def _ci(place: Workplace, host: CodeHost, verdict: str | bytes | None, **more: str) -> tuple[int, str]:
    """`assay ci` of the second workflow, on a file that a fork's job left."""
    if verdict is not None:
        (place.folder / "verdict.json").write_bytes(verdict.encode() if isinstance(verdict, str) else verdict)
    place.write("event.json", json.dumps(_fork_event("abc")))
    host.pulls = [{"number": 7, "head": {"label": "them:topic", "sha": "abc"}}]
    variables = {
        "GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": "event.json", "GITHUB_REPOSITORY": "me/bench",
        "GITHUB_TOKEN": WRITING, **_second(host), **more,
    }  # fmt: skip
    answer = place.assay("ci", "verdict.json", **variables)
    return answer.code, answer.out + answer.err


HOSTILE = (
    "</details><script>alert(1)</script> @everyone #1 [x](http://evil.example) "
    "![i](https://evil.example/i) www.evil.example\n::error::x"
)


def _verdict(text: str, rows: int = 1) -> str:
    row = {
        "entry": text, "metric": text, "verdict": "regressed", "reason": text, "unit": text, "base": 1.0, "head": 3.0,
        "ratio": 3.0, "low": 2.5, "high": 3.5, "base_runs": 10, "head_runs": 10, "design": "paired", "notes": [text],
    }  # fmt: skip
    return json.dumps({"base": text, "head": text, "notes": [text], "rows": [row] * rows, "exit_code": 3})


def test_what_a_fork_wrote_is_shown_and_never_markup(workplace: Workplace, host: CodeHost) -> None:
    code, told = _ci(workplace, host, _verdict(HOSTILE))
    assert code == 0
    assert not [line for line in told.splitlines() if line.startswith("::")]
    [comment] = host.comments
    body = comment["body"]
    written = re.sub(r"`[^`\n]*`", "", body)  # code is shown as it is
    shown = html.unescape(written)
    parted = ("@everyone", "#1", "://evil", "www.evil")  # both services look for these in what was rendered
    for markup in ("<script", "</details", "](http://evil", "![", *parted):
        assert markup not in (shown if markup in parted else written), (markup, body)
    assert "regressed" in body


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (None, "isn't there: the comparison ended without a result"),
        ("{", "is not valid JSON"),
        ("[" * 100_000, "nested"),
        (b"\x00" * (5 << 20), "is larger than 4 MB"),
        ("[]", "is no verdict of Assay"),
        (json.dumps({"base": "a", "head": "b", "rows": [{"entry": 1}]}), "is no verdict of Assay: rows.0"),
    ],
)
def test_a_verdict_that_cannot_be_read_is_none(
    workplace: Workplace, host: CodeHost, verdict: str | bytes | None, said: str
) -> None:
    """The comment on an earlier commit may not stand for this one."""
    assert _ci(workplace, host, _verdict("fine"))[0] == 0
    (workplace.folder / "verdict.json").unlink()
    code, told = _ci(workplace, host, verdict)
    assert code == 0, told
    [comment] = host.comments
    assert "### No verdict" in comment["body"]
    assert said in told


def test_a_verdict_with_too_many_rows_fits_a_comment(workplace: Workplace, host: CodeHost) -> None:
    assert _ci(workplace, host, _verdict("a metric of a fork", rows=3000))[0] == 0
    [comment] = host.comments
    assert 50_000 < len(comment["body"]) < 65_536
    assert "There is more than a comment can hold" in comment["body"]


def test_only_our_own_comment_is_updated_wherever_it_stands(workplace: Workplace, host: CodeHost) -> None:
    assert _ci(workplace, host, _verdict("first"))[0] == 0
    marker = host.comments[0]["body"].partition("\n")[0]
    ours = host.comments.pop()
    forged = f"{marker}\nall is well"
    host.add(forged, "somebody")
    for number in range(120):
        host.add(f"comment {number}", "somebody")
    host.comments.append({**ours, "id": 999})
    assert _ci(workplace, host, _verdict("second"))[0] == 0
    assert len(host.comments) == 122
    assert host.comments[0]["body"] == forged
    assert "second" in host.comments[-1]["body"]


def test_a_comment_that_cannot_be_posted(workplace: Workplace, host: CodeHost) -> None:
    """It fails the job that is there for nothing else, and no other."""
    code, told = _ci(workplace, host, _verdict("x"), GITHUB_TOKEN=READ_ONLY)
    assert code == 1
    assert "permissions: {pull-requests: write}" in told
    host.down = True
    workplace.write("event.json", json.dumps({"pull_request": {"number": 7}}))
    answer = workplace.assay(
        "ci", "verdict.json", GITHUB_ACTIONS="true", GITHUB_EVENT_NAME="pull_request", GITHUB_EVENT_PATH="event.json",
        GITHUB_REPOSITORY="me/bench", GITHUB_API_URL=host.url, GITHUB_TOKEN=WRITING,
    )  # fmt: skip
    assert answer.code == 0
    assert "no comment was posted: answered 503" in answer.out


def test_a_pull_request_that_has_moved_on_gets_no_comment(workplace: Workplace, host: CodeHost) -> None:
    workplace.write("verdict.json", _verdict("x"))
    workplace.write("event.json", json.dumps(_fork_event("another")))
    answer = workplace.assay(
        "ci", "verdict.json", GITHUB_ACTIONS="true", GITHUB_EVENT_PATH="event.json", GITHUB_REPOSITORY="me/bench",
        GITHUB_API_URL=host.url, GITHUB_EVENT_NAME="workflow_run", GITHUB_TOKEN=WRITING,
    )  # fmt: skip
    assert (answer.code, host.comments) == (0, [])
    assert "no pull request to comment on" in answer.out


@pytest.mark.slow
def test_the_commit_that_adds_the_benchmarks_is_let_through(workplace: Workplace, host: CodeHost) -> None:
    project = Project(workplace)
    project.git("rm", "--quiet", "gate.yaml")
    base = project.commit(1)
    project.git("switch", "--quiet", "--create", "topic")
    project.write("gate.yaml", GATE)
    head = project.commit(1)
    steps, _ = project.pull_request(head, host)
    assert {name: code for name, (code, _) in steps.items()} == {"Install": 0, "Compare": 0, "Report": 0}, steps
    assert steps["Report"][1].startswith("::warning title=Assay::no baseline yet")
    [comment] = host.comments
    assert "⚪" in comment["body"]
    assert "gate.yaml does not exist in that revision" in comment["body"]
    configs = ("--config", "assay.yaml", "--config", "gate.yaml")
    refused = subprocess.run(
        workplace.argv("ab", *configs, "--a", f"rev={base}", "--b", f"rev={head}"),
        cwd=project.origin, env=workplace.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert refused.returncode == 2
    assert "gate.yaml does not exist in that revision, and each side runs the files of its own" in refused.stderr
    assert "--allow-missing-base" in refused.stderr


@pytest.mark.slow
def test_a_stored_baseline_is_read_by_pull_requests_and_written_by_pushes(workplace: Workplace, host: CodeHost) -> None:
    project = Project(workplace, "--ci-baseline", "stored")
    assert not (project.origin / ".github/workflows/assay-comment.yml").exists()
    tools = workplace.folder / "bin"
    venv = f'#!/bin/sh\nmkdir -p "$3/bin"\ncp {tools}/pip {tools}/assay "$3/bin"\n'
    workplace.write("bin/python3", venv).chmod(0o755)
    kept = workplace.folder / "kept"
    variables = {"ASSAY_BASELINE": str(kept), "GITHUB_API_URL": host.url, "token": WRITING, "GITHUB_SHA": "abc"}
    variables |= {"GITHUB_PATH": str(workplace.folder / "path"), "GITHUB_REF_NAME": "7/merge"}
    pushed = project.github(
        "pull-request", project.runner("main"), {"ref": "main"}, {**variables, "GITHUB_EVENT_NAME": "push"}
    )
    assert pushed["Measure"][0] == 0, pushed
    [session] = (kept / "me/bench").glob("*/session.json")
    before = (kept / "me/bench/history.sqlite").read_bytes()
    project.git("switch", "--quiet", "--create", "topic")
    head = project.commit(3)
    event = {"pull_request": {"number": 7, "head": {"sha": head}}}
    steps = project.github(
        "pull-request", project.runner(head), event, {**variables, "GITHUB_EVENT_NAME": "pull_request"}
    )
    assert steps["Report"][1].startswith("::error title=Assay::"), steps
    assert "1 entry regressed" in steps["Report"][1]
    [comment] = host.comments
    assert "🔴" in comment["body"]
    assert "cpu\\_ms" in comment["body"]
    assert (kept / "me/bench/history.sqlite").read_bytes() == before
    assert [session] == list((kept / "me/bench").glob("*/session.json"))


@pytest.mark.slow
def test_a_merge_request_of_gitlab(workplace: Workplace, host: CodeHost) -> None:
    project = Project(workplace, "gitlab")
    head = project.commit(3)
    jobs = yaml.safe_load((project.origin / ".gitlab/assay.yml").read_text())
    job = jobs["assay-merge-request"]
    variables = {
        "GITLAB_CI": "true", "CI_API_V4_URL": host.url, "CI_PROJECT_ID": "11", "CI_MERGE_REQUEST_IID": "7",
        "CI_JOB_NAME": "assay-merge-request", "CI_JOB_URL": "https://host.example/job/5",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": project.base, "CI_COMMIT_SHA": head, **jobs[".assay"]["variables"],
    }  # fmt: skip
    folder = project.runner(head)
    before = "\n".join(jobs[".assay"]["before_script"])
    code, told = project.bash(before + "\n" + "\n".join(job["script"]), folder, variables)
    assert code == 3, told
    after = "\n".join(job["after_script"])
    code, told = project.bash(after, folder, variables)
    assert code == 0, told
    assert "ASSAY_GITLAB_TOKEN" in told
    assert host.comments == []
    for _ in "12":
        assert project.bash(after, folder, {**variables, "ASSAY_GITLAB_TOKEN": WRITING})[0] == 0
    [note] = host.comments
    assert "cpu_ms" in note["body"]
    assert "🔴" in note["body"]
    assert "cpu_ms" in (folder / "verdict.md").read_text()
