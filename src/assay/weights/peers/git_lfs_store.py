from __future__ import annotations

from assay.weights.peers.git_store import GitStore


class GitLfsStore(GitStore):
    """git with its large-file storage: one whole file a version, the same content kept once."""

    tool = "git-lfs"

    def set_up(self) -> None:
        self.git("lfs", "install", "--local", "--skip-repo")
        self.set_filter("lfs", needs=" diff=lfs merge=lfs")
