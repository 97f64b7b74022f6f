"""Which stored tensors may serve as a base: those of the same name first, then those whose sketch is alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from assay.weights.bases.sketch import similarity
from assay.weights.config import RepositoryConfig
from assay.weights.dtype import ElementType
from assay.weights.packs.object_store import ObjectStore
from assay.weights.packs.tensor_record import TensorRecord
from assay.weights.store import Tensor

_ALIKE_TRIED = {"small": 4, "balanced": 2, "fast": 0}
_NAMED_TRIED = {"small": 4, "balanced": 2, "fast": 1}
_LONGEST = {"fast": 1}
"""Longest chain of a setting, whatever the configuration says: reading costs one decoding for each link."""


class BaseFinder:
    def __init__(self, store: ObjectStore, config: RepositoryConfig) -> None:
        self._store, self._config = store, config
        self._buckets: dict[tuple[str, int], list[TensorRecord]] | None = None
        self._signatures: dict[tuple[str, int], Tensor] = {}

    def find_named(self, bases: Iterable[bytes], kind: ElementType) -> list[TensorRecord]:
        """The tensors of that name in the parents, and what those are differences to."""
        found: list[TensorRecord] = []
        for digest in bases:
            current: bytes | None = digest
            while current is not None and len(found) < _NAMED_TRIED[self._config.setting]:
                record = self._store.record(current)
                if self._may_serve(record, kind) and record not in found:
                    found.append(record)
                current = record.base
        return found

    def alike(self, signature: int, kind: ElementType, elements: int) -> list[TensorRecord]:
        """Tensors of the same size whose sketches point the same way, the closest first."""
        tried = _ALIKE_TRIED[self._config.setting]
        if not signature or not tried:
            return []
        key = (kind.name, elements)
        bucket = self._index().get(key, [])
        if key not in self._signatures:
            self._signatures[key] = np.array([record.sketch for record in bucket], np.uint64)
        distance = np.bitwise_count(self._signatures[key] ^ np.uint64(signature))
        close = []
        for place in np.argsort(distance, kind="stable")[: 4 * tried]:
            record = bucket[int(place)]
            if similarity(signature, record.sketch) < self._config.similarity_threshold:
                break
            if self._may_serve(record, kind):
                close.append(record)
        return close[:tried]

    def _may_serve(self, record: TensorRecord, kind: ElementType) -> bool:
        longest = min(self._config.longest_chain, _LONGEST.get(self._config.setting, self._config.longest_chain))
        return record.kind == kind and record.elements > 0 and record.depth < longest

    def _index(self) -> dict[tuple[str, int], list[TensorRecord]]:
        if self._buckets is None:
            self._buckets = defaultdict(list)
            for record in self._store.records():
                if record.sketch:
                    self._buckets[record.kind.name, record.elements].append(record)
        return self._buckets
