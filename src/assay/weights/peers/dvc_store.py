from __future__ import annotations

from pathlib import Path

from assay.weights.peers.git_store import GitStore
from assay.weights.peers.versioned_file import FILE


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
