from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from assay.weights.peers.git_store import GitStore
from assay.weights.peers.safetensors_store import restore_views
from assay.weights.store import Tensor

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
