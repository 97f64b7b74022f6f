from __future__ import annotations

from pathlib import Path

from assay.weights.peers.git_store import GitStore


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
        self.filtered("theta")
