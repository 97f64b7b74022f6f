"""A version on its way in: tensors are coded and written as they come, so that memory does not grow with the model."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, ValuesView
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from assay.errors import DataError
from assay.weights.base_finder import BaseFinder
from assay.weights.packs.pack_files import PackWriter
from assay.weights.packs.tensor_record import TensorRecord
from assay.weights.packs.tensor_writer import TensorWriter
from assay.weights.store import Tensor
from assay.weights.versions.commit import TensorEntry

if TYPE_CHECKING:
    from assay.weights.repository import Repository


class LazyTensors(dict[str, Tensor]):
    """A checkout whose tensors are read when they are first looked at, and then kept."""

    def __init__(self, names: Iterable[str], read: Callable[[str], Tensor]) -> None:
        super().__init__(dict.fromkeys(names))  # type: ignore[arg-type]
        self._read = read
        self._missing = set(self)

    @property
    def loaded(self) -> set[str]:
        return set(self) - self._missing

    def __getitem__(self, name: str) -> Tensor:
        if name in self._missing:
            self[name] = self._read(name)
        return super().__getitem__(name)

    def __setitem__(self, name: str, tensor: Tensor) -> None:
        super().__setitem__(name, tensor)
        self._missing.discard(name)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self._missing.discard(name)

    def get(self, name: str, default: Tensor | None = None) -> Tensor | None:  # type: ignore[override]
        if name not in self:
            return default
        return self[name]

    def pop(self, name: str, *default: Tensor) -> Tensor:  # type: ignore[override]
        if name in self:
            tensor = self[name]
            del self[name]
            return tensor
        return super().pop(name, *default)

    def items(self) -> ItemsView[str, Tensor]:  # type: ignore[override]
        return ItemsView(self)

    def values(self) -> ValuesView[Tensor]:  # type: ignore[override]
        return ValuesView(self)

    def copy(self) -> dict[str, Tensor]:
        return dict(self.items())


LONGEST_NAME = 4096


class Ingest:
    """Holds the writer's lock from its beginning until it is left: what it stores must not be collected meanwhile."""

    def __init__(self, repository: Repository, parents: tuple[str, ...]) -> None:
        self._repository = repository
        self._bases: dict[str, list[bytes]] = {}
        for parent in parents:
            for entry in repository.commits.read(parent).entries:
                self._bases.setdefault(entry.name, []).append(bytes.fromhex(entry.digest))
        repository.objects.refresh()
        repository.writing.__enter__()
        self._finder = BaseFinder(repository.objects, repository.config)
        self._pack: PackWriter | None = None
        self._pending: dict[bytes, TensorRecord] = {}
        self._entries: dict[str, TensorEntry] = {}

    def __enter__(self) -> Ingest:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if self._pack is not None:
            self._pack.abandon()
            self._pack = None
        self._repository.writing.__exit__(None, None, None)

    def add(self, name: str, tensor: Tensor) -> None:
        if not isinstance(name, str) or not name or len(name) > LONGEST_NAME:
            raise DataError(f"a tensor must have a name of 1 to {LONGEST_NAME} characters, not {name!r}")
        tensor = np.asarray(tensor)
        record = self._writer().store(tensor, self._bases.get(name, ()), self._pending)
        self._pending[record.digest] = record
        self._entries[name] = TensorEntry(name, record.kind.name, record.shape, record.digest.hex())
        if self._pack is not None and len(self._pack.records) >= self._repository.config.batch_size:
            self._close_pack()

    def finish(self) -> tuple[TensorEntry, ...]:
        """Everything added is on disk and synced after this."""
        self._close_pack()
        return tuple(self._entries[name] for name in sorted(self._entries))

    def entries(self) -> Iterator[TensorEntry]:
        yield from self._entries.values()

    def _writer(self) -> TensorWriter:
        repository = self._repository
        if self._pack is None:
            self._pack = PackWriter(repository.disk, repository.temporary, repository.path / "packs")
        return TensorWriter(repository.objects, self._pack, self._finder, repository.config)

    def _close_pack(self) -> None:
        pack, self._pack = self._pack, None
        if pack is None:
            return
        if not pack.records:
            pack.abandon()
            return
        try:
            pack.finish()
        except OSError as error:
            pack.abandon()
            raise DataError(f"{self._repository.path} cannot be written: {error.strerror}") from None
        self._repository.objects.refresh()
