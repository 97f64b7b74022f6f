from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class GitState:
    commit: str | None = None
    branch: str | None = None
    dirty: bool | None = None


def git_state(folder: Path) -> GitState:
    """One call; nothing where there is no repository or no git."""
    try:
        answer = subprocess.run(
            ["git", "-C", str(folder), "status", "--porcelain=v2", "--branch", "--untracked-files=no"],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return GitState()
    if answer.returncode:
        return GitState()
    headers = dict(
        line[2:].split(" ", 1) for line in answer.stdout.splitlines() if line.startswith("# ") and " " in line[2:]
    )
    commit = headers.get("branch.oid")
    changed = any(not line.startswith("# ") for line in answer.stdout.splitlines())
    return GitState(None if commit == "(initial)" else commit, headers.get("branch.head"), changed)
