"""Codes every live tensor anew, on the base that the tensors around it suggest.

Tensors of one dtype and size are clustered by sketch. In a cluster the one nearest the centre is stored first, and
each other one is offered the two that are already stored and most like it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from assay.weights.base_finder import FEWEST_ELEMENTS, BaseFinder, cluster, sketch_of
from assay.weights.packs.pack_files import PackWriter
from assay.weights.packs.tensor_record import TensorRecord
from assay.weights.packs.tensor_writer import TensorWriter
from assay.weights.store import Tensor

if TYPE_CHECKING:
    from assay.weights.repository import Repository


def repack(repository: Repository, live: set[bytes]) -> None:
    """New packs hold all of `live`, and nothing stands on what is not in them; then the old packs go."""
    objects = repository.objects
    old = [pack.path for pack in objects.packs]
    order = repack_order(repository, live)
    # Written to a repository of its own first: a tensor must not become a difference to its old self.
    fresh = _Fresh(repository)
    for digest, bases in order:
        fresh.add(objects.read(digest), [base for base in bases if base in fresh.written])
    kept = fresh.finish()
    for path in old:
        if path not in kept:
            repository.disk.remove(path)
    repository.disk.sync_folder(objects.folder)


def repack_order(repository: Repository, live: set[bytes]) -> list[tuple[bytes, list[bytes]]]:
    """Each live tensor with the tensors that may be its base, which come before it."""
    objects, config = repository.objects, repository.config
    groups: dict[tuple[str, int], list[TensorRecord]] = defaultdict(list)
    for digest in sorted(live):
        record = objects.record(digest)
        groups[record.kind.name, record.elements].append(record)
    order: list[tuple[bytes, list[bytes]]] = []
    for (_, elements), records in groups.items():
        if elements < FEWEST_ELEMENTS or len(records) == 1:
            order.extend((record.digest, []) for record in records)
            continue
        sketches = np.stack([_sketch(repository, record) for record in records])
        clusters = cluster(sketches, config.clustering_strategy, config.similarity_threshold)
        for number in range(clusters.count):
            members = clusters.members(number)
            first = clusters.medoid(number, sketches)
            members.sort(key=lambda m: (m != first, -float(sketches[m] @ sketches[first])))
            for place, member in enumerate(members):
                near = sorted(members[:place], key=lambda m: -float(sketches[m] @ sketches[member]))
                order.append((records[member].digest, [records[m].digest for m in near[:2]]))
    return order


def _sketch(repository: Repository, record: TensorRecord) -> Tensor:
    return sketch_of(repository.objects.read_chunk(record.digest, 0), record.kind)


class _Fresh:
    """Packs under way whose tensors can already be bases of the next: a pack is closed when one of it is needed."""

    def __init__(self, repository: Repository) -> None:
        from assay.weights.packs.object_store import ObjectStore

        self._repository = repository
        self._folder = repository.temporary / "repack"
        self._folder.mkdir(exist_ok=True)
        self._store = ObjectStore(self._folder, repository.config.memory_limit_mb << 20)
        self._config = replace(repository.config, delta_encoding=_lossless(repository.config.delta_encoding))
        self._pack: PackWriter | None = None
        self._pending: dict[bytes, TensorRecord] = {}
        self.written: set[bytes] = set()

    def add(self, tensor: Tensor, bases: list[bytes]) -> None:
        if any(base not in self._store for base in bases) or (
            self._pack is not None and len(self._pack.records) >= self._config.batch_size
        ):
            self._close()
        if self._pack is None:
            self._pack = PackWriter(self._repository.disk, self._folder, self._folder)
        finder = BaseFinder(self._store, self._config)
        record = TensorWriter(self._store, self._pack, finder, self._config).store(tensor, bases, self._pending)
        self._pending[record.digest] = record
        self.written.add(record.digest)

    def _close(self) -> None:
        if self._pack is not None:
            self._pack.finish()
            self._pack = None
            self._store.refresh()

    def finish(self) -> set[object]:
        self._close()
        return {self._join()} if self.written else set()

    def _join(self) -> object:
        """Many small packs become one, in the repository."""
        repository = self._repository
        writer = PackWriter(repository.disk, repository.temporary, repository.objects.folder)
        for record in self._store.records():
            places = tuple(
                writer.add_chunk(chunk.method, self._store.read_stored_chunk(record.digest, number))
                for number, chunk in enumerate(record.chunks)
            )
            lossy = repository.objects.record(record.digest).lossy
            writer.add_record(record._replace(chunks=places, lossy=lossy))
        target = writer.finish()
        for path in self._folder.iterdir():
            repository.disk.remove(path)
        self._folder.rmdir()
        return target


def _lossless(encoding: str) -> str:
    return "AUTO" if encoding.startswith("LOSSY") else encoding
