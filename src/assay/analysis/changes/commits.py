from __future__ import annotations

import re
import subprocess
from pathlib import Path

_COMMIT = re.compile(r"[0-9a-f]{7,40}")


def commits_between(old: str | None, new: str | None, repository: Path | None = None, most: int = 50) -> list[str]:
    """`<hash> <subject>` of each commit after `old` up to `new`, newest first; empty where git does not know them."""
    if not (old and new and _COMMIT.fullmatch(old) and _COMMIT.fullmatch(new)):
        return []
    try:
        asked = subprocess.run(
            ["git", "log", "--no-color", f"--max-count={most}", "--format=%h %s", f"{old}..{new}", "--"],
            cwd=repository, capture_output=True, text=True, errors="replace", timeout=10, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return []
    return asked.stdout.splitlines() if asked.returncode == 0 else []
