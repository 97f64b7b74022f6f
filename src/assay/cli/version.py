"""What `assay --version` says: the version, and the commit that this copy was made from where that is known."""

from __future__ import annotations

import argparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

BUILT = "commit.txt"
"""Written into sdist and wheel by hatch_build.py; a checkout asks git."""


class ShowVersion(argparse.Action):
    """Asks git only when somebody wants to know."""

    def __init__(self, option_strings: list[str], dest: str, **more: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help="version and commit, then exit")

    def __call__(self, parser: argparse.ArgumentParser, *given: Any) -> None:
        print(version_text())
        parser.exit()


def version_text() -> str:
    from pathlib import Path

    from assay import __version__

    commit = commit_of(Path(__file__).parent.parent)
    return f"assay {__version__} ({commit})" if commit else f"assay {__version__}"


def commit_of(package: Path) -> str:
    """`commit 0123456789ab`, with `, changed` where files of the checkout differ from it; empty where nobody knows."""
    built = package / BUILT
    if built.is_file():
        return f"commit {built.read_text(encoding='utf-8').strip()}"
    checkout = package.parent.parent
    if not (checkout / ".git").exists():
        return ""
    commit = _git(checkout, "rev-parse", "--short=12", "HEAD")
    changed = ", changed" if commit and _git(checkout, "status", "--porcelain", "--untracked-files=no") else ""
    return f"commit {commit}{changed}" if commit else ""


def _git(folder: Path, *words: str) -> str:
    """Its answer; empty where git is missing, slow or refuses."""
    import subprocess

    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, check=False, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
