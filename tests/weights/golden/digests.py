from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np

from assay.weights.repository import Repository


def digests_of(repository: Repository) -> dict[str, dict[str, str]]:
    """Version, tensor: dtype, shape, SHA-256 of its bytes, and SHA-256 of its chunks as they are stored."""
    found: dict[str, dict[str, str]] = {}
    for commit in repository.log():
        tensors = repository.checkout(commit.id)
        found[commit.message] = {
            entry.name: _described(tensors[entry.name], _stored(repository, bytes.fromhex(entry.digest)))
            for entry in commit.entries
        }
    return found


def _described(tensor: np.ndarray[Any, Any], stored: str) -> str:
    content = sha256(np.ascontiguousarray(tensor).tobytes()).hexdigest()[:24]
    return f"{tensor.dtype.name} {'x'.join(map(str, tensor.shape)) or '-'} {content} {stored}"


def _stored(repository: Repository, digest: bytes) -> str:
    record = repository.objects.record(digest)
    hasher = sha256(f"{None if record.base is None else record.base.hex()} {record.depth} {record.lossy}".encode())
    for number, chunk in enumerate(record.chunks):
        hasher.update(bytes([chunk.method]))
        hasher.update(repository.objects.read_stored_chunk(digest, number))
    return hasher.hexdigest()[:24]
