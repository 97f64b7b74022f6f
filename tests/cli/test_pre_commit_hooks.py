"""What `.pre-commit-hooks.yaml` says, carried out as pre-commit does: in the project, with the PATH of who commits."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.cli.main import main

HOOKS: dict[str, dict[str, Any]] = {
    hook["id"]: hook for hook in yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text())
}
PROJECT_PYTHON = """\
#!/bin/sh
export PROJECT_PYTHON=1
exec {python} "$@"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with the template of `assay init`, smaller, and an interpreter of its own first on the PATH."""
    root = tmp_path / "project"
    root.mkdir()
    assert main(["init", str(root)]) == 0
    config = root / "assay.yaml"
    config.write_text(
        config.read_text().replace("000000", "000").replace("100000", "1000").replace("repeat: 6", "repeat: 1")
    )
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "assay").write_text(PROJECT_PYTHON.format(python=sys.executable).replace('"$@"', '-m assay "$@"'))
    (programs / "assay").chmod(0o755)
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=root, check=True)
    return root


def carry_out(hook: str, project: Path, *, args: list[str] | None = None) -> subprocess.CompletedProcess[str]:
    said = HOOKS[hook]
    assert said["language"] == "system"  # otherwise pre-commit would put an environment of its own first on the PATH
    assert said["pass_filenames"] is False
    path = f"{project.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [*shlex.split(said["entry"]), *(said["args"] if args is None else args)],
        cwd=project,
        env={**os.environ, "PATH": path, "PRE_COMMIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_check_passes_on_the_template_and_fails_on_a_mistake(project: Path) -> None:
    assert carry_out("assay-check", project).returncode == 0
    assert not (project / "results").exists()
    (project / "assay.yaml").write_text("entries:\n  - nam: x\n")
    wrong = carry_out("assay-check", project)
    assert wrong.returncode == 2
    assert "assay.yaml:2" in wrong.stderr


@pytest.mark.slow
def test_the_template_runs_in_the_projects_interpreter(project: Path) -> None:
    script = project / "scripts/my_benchmark.py"
    script.write_text(script.read_text() + '\nimport os\nassert os.environ["PROJECT_PYTHON"]\n')
    ran = carry_out("assay-run", project)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    [session] = [path for path in (project / "results").iterdir() if path.is_dir()]
    assert session.name.startswith("push__")
    script.write_text("raise SystemExit(1)\n")
    failed = carry_out("assay-run", project, args=["--config", "assay.yaml", "--entries", "*small*"])
    assert failed.returncode == 1


def test_each_runs_when_it_should() -> None:
    assert "stages" not in HOOKS["assay-check"]
    assert HOOKS["assay-run"]["stages"] == ["pre-push"]
    assert HOOKS["assay-run"]["always_run"] is True
