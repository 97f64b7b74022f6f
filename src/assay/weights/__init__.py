"""A store for model weights: versions exact to the bit, content-addressed, close to the entropy limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.exports import exports

if TYPE_CHECKING:
    from assay.weights.entropy_limit import repository_limit, tensor_limit
    from assay.weights.repository import Repository
    from assay.weights.repository_config import RepositoryConfig
    from assay.weights.store import StoreStats, WeightStore
    from assay.weights.transfer import clone, pull, push
    from assay.weights.verifier import Verification, verify
    from assay.weights.versions.commit import Commit, Diff
    from assay.weights.versions.merge import MergeConflict

__all__ = [
    "Commit",
    "Diff",
    "MergeConflict",
    "Repository",
    "RepositoryConfig",
    "SnapshotStore",
    "StoreStats",
    "Tensor",
    "Verification",
    "WeightStore",
    "clone",
    "pull",
    "push",
    "repository_limit",
    "tensor_limit",
    "verify",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "Commit": "versions.commit",
        "Diff": "versions.commit",
        "MergeConflict": "versions.merge",
        "Repository": "repository",
        "RepositoryConfig": "repository_config",
        "SnapshotStore": "peers.file_stores",
        "StoreStats": "store",
        "Tensor": "store",
        "Verification": "verifier",
        "WeightStore": "store",
        "clone": "transfer",
        "pull": "transfer",
        "push": "transfer",
        "repository_limit": "entropy_limit",
        "tensor_limit": "entropy_limit",
        "verify": "verifier",
    },
)
