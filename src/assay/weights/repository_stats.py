from __future__ import annotations

from typing import TYPE_CHECKING

from assay.weights.bytes_on_disk import bytes_on_disk
from assay.weights.dtype import ELEMENT_TYPES
from assay.weights.store import StoreStats

if TYPE_CHECKING:
    from assay.weights.repository import Repository


def repository_stats(repository: Repository) -> StoreStats:
    entries = [entry for commit_id in repository.commits.ids() for entry in repository.commits.read(commit_id).entries]
    repository.objects.refresh()
    records = list(repository.objects.records())
    unique = {entry.digest for entry in entries}
    return StoreStats(
        logical_bytes=sum(entry.size * ELEMENT_TYPES[entry.dtype].itemsize for entry in entries),
        stored_bytes=bytes_on_disk(repository.path),
        versions=len(repository.commits.ids()),
        tensors=len(entries),
        unique_tensors=len(unique),
        deltas=sum(record.base is not None for record in records),
        dedup_hits=len(entries) - len(unique),
        lossy_tensors=sum(record.lossy for record in records),
        longest_chain=max((record.depth for record in records), default=0),
    )
