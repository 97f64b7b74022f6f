from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from assay.errors import UsageError


class MissingInRevision(UsageError):
    """A file that was not there yet, or is no longer."""


class Checkout:
    """A git revision in a folder of its own; the user's working tree is not touched. Gone when the block ends."""

    def __init__(self, revision: str, repository: Path) -> None:
        self.revision = revision
        self.repository = repository_root(repository)
        self.commit = self._git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
        self._parent: tempfile.TemporaryDirectory[str] | None = None
        self.path = Path()

    def __enter__(self) -> Self:
        self._parent = tempfile.TemporaryDirectory(prefix="assay-ab-")
        self.path = Path(self._parent.name) / self.commit[:12]
        self._git("worktree", "add", "--detach", "--force", str(self.path), self.commit)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self._parent is not None
        subprocess.run(
            ["git", "worktree", "remove", "--force", str(self.path)],
            cwd=self.repository, capture_output=True, check=False, timeout=60,
        )  # fmt: skip
        self._parent.cleanup()

    def inside(self, path: Path) -> Path:
        """Where a file of the working tree is in this revision."""
        found = self.path / path.resolve().relative_to(self.repository)
        if not found.exists():
            raise MissingInRevision(f"rev={self.revision}: {path.name} does not exist in that revision")
        return found

    def _git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.repository, capture_output=True, text=True, check=False, timeout=120
        )
        if done.returncode:
            why = done.stderr.strip().splitlines()
            raise UsageError(f"rev={self.revision}: {why[-1] if why else 'git knows no such revision'}")
        return done.stdout.strip()


def repository_root(path: Path) -> Path:
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--show-toplevel"], cwd=path, capture_output=True, text=True, check=False, timeout=60
        )
    except OSError as error:
        raise UsageError(f"git cannot be run: {error}") from None
    if done.returncode:
        raise UsageError(f"{path} is not inside a git repository, so it has no revisions to compare")
    return Path(done.stdout.strip()).resolve()
