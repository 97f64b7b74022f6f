from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from assay.errors import DataError
from assay.weights.peers.file_stores import FILE, VersionedFileStore, restore_views
from assay.weights.store import Tensor

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


class GitLfsStore(GitStore):
    """git with its large-file storage: one whole file a version, the same content kept once."""

    tool = "git-lfs"

    def set_up(self) -> None:
        self.git("lfs", "install", "--local", "--skip-repo")
        self.set_filter("lfs", needs=" diff=lfs merge=lfs")


class DvcStore(GitStore):
    """DVC beside git: one whole file a version in its cache, the same content kept once."""

    tool = "dvc"
    tracked = f"{FILE}.dvc"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        # Its cache of what it knows of a machine's files; no part of the store.
        self._environment |= {"DVC_NO_ANALYTICS": "1", "DVC_SITE_CACHE_DIR": str(self.path / ".dvc" / "tmp" / "site")}

    def set_up(self) -> None:
        self.run("dvc", "init", "--quiet")
        for setting in ("core.analytics", "core.check_update"):
            self.run("dvc", "config", setting, "false")

    def keep(self, message: str) -> str:
        self.run("dvc", "add", "--quiet", FILE)
        self.git("add", ".gitignore", ".dvc/config", ".dvc/.gitignore", self.tracked)
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD").strip()

    def fetch(self, ref: str) -> None:
        super().fetch(ref)
        self.run("dvc", "checkout", "--quiet", "--force", self.tracked)


VIEWS = "dtypes.json"


class GitThetaStore(GitStore):
    """Kandpal et al., "Git-Theta: A Git Extension for Collaborative Development of Machine Learning Models" (2023).

    Each tensor is kept by itself through git-lfs, and again only if it changed. Its own `git theta install` writes to
    the user's configuration, so the filter is set here, in the repository's.
    """

    tool = "git-theta"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._environment["GIT_THETA_CHECKPOINT_TYPE"] = "safetensors"

    def set_up(self) -> None:
        self.git("lfs", "install", "--local", "--skip-repo")
        # It copies its hooks there, and an empty template has no such folder.
        (self.path / ".git" / "hooks").mkdir(exist_ok=True)
        for what in ("clean", "smudge"):
            self.git("config", f"filter.theta.{what}", f"git-theta-filter {what} %f")
        self.git("config", "filter.theta.required", "true")
        self.set_filter("theta")

    def keep(self, message: str) -> str:
        """It drops a file's metadata, where the dtypes of what went in as bits stand: they go into a file beside it."""
        from safetensors import safe_open

        with safe_open(self.file, framework="np") as opened:
            (self.path / VIEWS).write_text((opened.metadata() or {}).get("views", "{}"))
        return super().keep(message)

    def fetch(self, ref: str) -> None:
        super().fetch(ref)
        self.git("checkout", "--quiet", ref, "--", VIEWS)

    def read(self, file: Path, names: Iterable[str] | None) -> dict[str, Tensor]:
        return restore_views(super().read(file, names), json.loads((self.path / VIEWS).read_text()))
