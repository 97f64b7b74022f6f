from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import ClassVar

from assay.errors import DataError
from assay.weights.peers.versioned_file import FILE, VersionedFileStore

_OURS = ("-c", "user.name=assay", "-c", "user.email=assay@localhost", "-c", "gc.auto=0", "-c", "commit.gpgsign=false")


def tool_path() -> str:
    """Where programs are looked for: the PATH, then `.peers/<tool>/bin`, for environments of their own."""
    folder = Path(os.environ.get("ASSAY_PEERS_DIR", ".peers"))
    made = (folder.absolute() / name / "bin" for name in ("dvc", "git-theta", "git-lfs"))
    return os.pathsep.join([os.environ.get("PATH", os.defpath), *map(str, made)])


def find_program(name: str) -> str | None:
    return shutil.which(name, path=tool_path())


class GitStore(VersionedFileStore):
    """A git repository in the store's folder, and a tool that keeps large files beside it.

    No configuration of the user's is read or written: filters stand in the repository's own.
    """

    tool: ClassVar[str]
    tracked: ClassVar[str] = FILE
    """What git itself keeps of the model."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "DVC_"))},
            "PATH": tool_path(),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
        }
        if not (self.path / ".git").exists():
            self.git("init", "--quiet", "--template=", "--initial-branch=main")
            self.set_up()

    def set_up(self) -> None: ...

    def set_filter(self, name: str, *, needs: str = "") -> None:
        """Every version of the file goes through this filter."""
        (self.path / ".gitattributes").write_text(f"{FILE} filter={name} -text{needs}\n")

    def keep(self, message: str) -> str:
        self.git("add", "--force", "--all", ".")
        # An exact duplicate is a version as well.
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD").strip()

    def fetch(self, ref: str) -> None:
        if not re.fullmatch(r"[0-9a-f]{40,64}", ref):
            raise DataError(f"{self.path}: {ref!r} is not the name of a version")
        self.git("checkout", "--quiet", ref, "--", self.tracked)

    def git(self, *arguments: str) -> str:
        return self.run("git", *_OURS, *arguments)

    def run(self, program: str, *arguments: str) -> str:
        found = find_program(program) or program
        done = subprocess.run(
            [found, *arguments], cwd=self.path, env=self._environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            said = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
            raise DataError(f"{self.tool}: {said[-1] if said else f'{program} ended with code {done.returncode}'}")
        return done.stdout
