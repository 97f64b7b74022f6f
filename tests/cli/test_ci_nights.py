"""A night as CI runs it: the commands of the files that `assay init --ci` writes, carried out in their order."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from workplace import Workplace

from assay.cli.main import main
from assay.record import SessionFolder
from assay.record.results_file import read_records

CONFIG = """
results_dir: results
data_setups:
  - {name: fetch, command: [touch, data]}
entries:
  - {name: first, command: [test, -f, data]}
  - {name: second, command: [test, -f, data]}
"""
SBATCH = """#!/usr/bin/env bash
# Slurm as far as a night needs it: the script, once for each task of an array, in the folder it was submitted from.
set -u
tasks=1
while [[ $1 == --* ]]; do
  [[ $1 == --array=1-* ]] && tasks=${1#--array=1-}
  shift
done
for task in $(seq "$tasks"); do SLURM_ARRAY_TASK_ID=$task bash "$@" >&2 & done
wait
echo 4711
"""


@pytest.fixture
def place(workplace: Workplace) -> Workplace:
    """A workplace with `assay` and `sbatch` on the PATH."""
    workplace.write("assay.yaml", CONFIG)
    for name, text in (("assay", f'#!/bin/sh\nexec {sys.executable} -m assay "$@"\n'), ("sbatch", SBATCH)):
        workplace.write(f"bin/{name}", text).chmod(0o755)
    workplace.environment["PATH"] = f"{workplace.folder / 'bin'}:{os.environ['PATH']}"
    return workplace


def bash(place: Workplace, script: str, cwd: str = "", **variables: str) -> str:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=place.folder / cwd,
        env={**place.environment, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def runner(place: Workplace, name: str) -> str:
    """A machine of its own: a folder that shares nothing."""
    (place.folder / name).mkdir()
    shutil.copy(place.folder / "assay.yaml", place.folder / name)
    return name


def one_session(folder: Path) -> None:
    session = SessionFolder(folder)
    assert session.info().status == "finished"
    assert sorted(record.name for record in read_records(session.results)) == ["fetch", "first", "second"]
    assert session.report.is_file()


def steps(job: dict[str, Any]) -> list[str]:
    return [str(step["run"]) for step in job["steps"] if "assay " in str(step.get("run", ""))]


def test_a_night_of_github(place: Workplace) -> None:
    assert main(["init", str(place.folder), "--ci"]) == 0
    jobs = yaml.safe_load((place.folder / ".github/workflows/assay-nightly.yml").read_text())["jobs"]
    variables = {"GITHUB_RUN_ID": "17", "GITHUB_STEP_SUMMARY": "summary.md", "GITHUB_OUTPUT": "output.txt"}
    variables |= {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": str(place.write("event.json", "{}"))}

    bash(place, *steps(jobs["plan"]), cwd=runner(place, "plan"), **variables)
    said = (place.folder / "plan/output.txt").read_text()
    entries = json.loads(said.removeprefix("names="))
    assert entries == ["fetch", "first", "second"]
    entries = entries[1:]  # the data setup is run with each of the others too: runners have nothing in common
    for entry in entries:
        bash(place, *steps(jobs["measure"]), cwd=runner(place, entry), ENTRY=entry, **variables)
    finish = runner(place, "finish")
    for entry in entries:
        parts = place.folder / entry / "results/nightly-17"
        shutil.copytree(parts, place.folder / finish / "results/nightly-17", dirs_exist_ok=True)
    bash(place, "\n".join(steps(jobs["finish"])), cwd=finish, **variables)

    one_session(place.folder / "finish/results/nightly-17")
    assert "nightly-17" in (place.folder / "finish/summary.md").read_text()


def test_a_night_of_gitlab(place: Workplace, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(place.folder), "--ci", "gitlab"]) == 0
    assert "- local: .gitlab/assay.yml" in capsys.readouterr().out
    jobs = yaml.safe_load((place.folder / ".gitlab/assay.yml").read_text())
    variables = {"CI_PIPELINE_ID": "17", "CI_NODE_TOTAL": "2"}
    for number in "12":
        bash(place, "\n".join(jobs["assay-nightly"]["script"]), CI_NODE_INDEX=number, **variables)
    bash(place, "\n".join(jobs["assay-nightly-finish"]["script"]), **variables)
    one_session(place.folder / "results/nightly-17")


def test_a_night_of_slurm(place: Workplace) -> None:
    assert main(["init", str(place.folder), "--ci", "slurm"]) == 0
    for script in (place.folder / "slurm").iterdir():
        assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0
    said = bash(place, "slurm/assay-night.sh assay.yaml night")
    assert "Session night: 3 tasks" in said
    one_session(place.folder / "results/night")


def test_a_scheduler_that_is_not_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path), "--ci", "gitlub"]) == 2
    assert "--ci: unknown scheduler 'gitlub'; did you mean 'gitlab'?" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
