from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from assay.benchmarks.weights.settings import SuiteSettings
from assay.errors import UsageError
from assay.names import unknown
from assay.weights.peers.own_store import find_loadable_stores, find_offered_stores, own_store
from assay.weights.peers.peer import PEERS, peer
from assay.weights.store import WeightStore

OWN = {"assay-small": "small", "assay-balanced": "balanced", "assay-fast": "fast"}
FLOOR = "safetensors"
"""The store that speeds are given against: it writes and reads bytes and does nothing else."""


@dataclass(frozen=True)
class StoreKind:
    """A store by the name that is given to `--store`: ours at a setting, or another one."""

    name: str
    settings: SuiteSettings = SuiteSettings()
    config: Mapping[str, Any] = field(default_factory=dict)
    """Keys of our repository's configuration beside the setting; other stores have none."""

    @property
    def own(self) -> bool:
        return self.name in OWN

    @property
    def lossy(self) -> bool:
        return not self.own and peer(self.name).lossy

    def open(self, path: Path) -> WeightStore:
        if not self.own:
            return peer(self.name).open(path)
        from assay.weights.repository import Repository

        wanted: dict[str, Any] = {"setting": OWN[self.name]}
        if self.settings.memory_limit_mb is not None:
            wanted["memory_limit_mb"] = max(16, self.settings.memory_limit_mb)
        if self.settings.enable_streaming is not None:
            wanted["streaming_operations"] = self.settings.enable_streaming
        if not self.settings.use_mmap:
            wanted["memory_mapping"] = False
        wanted |= self.config
        exists = path.is_dir() and any(path.iterdir())
        return (Repository.open if exists else Repository.init)(path, wanted)

    @contextmanager
    def use(self, path: Path) -> Iterator[WeightStore]:
        """Opened for a block, and closed at its end."""
        with Handle(self, path) as handle:
            yield handle.store


class Handle:
    """An open store that can be opened anew, so that a read finds nothing that an earlier call has left in memory.

    It is closed at the end of a `with` block.
    """

    def __init__(self, kind: StoreKind, path: Path) -> None:
        self.kind, self.path = kind, path
        self.store = kind.open(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the store, if it is one that can be."""
        closing = getattr(self.store, "close", None)
        if closing is not None:
            closing()

    @property
    def pid(self) -> int | None:
        """The process that a store works in, where it has one of its own."""
        found: int | None = getattr(self.store, "pid", None)
        return found

    def reopen(self) -> WeightStore:
        self.close()
        self.store = self.kind.open(self.path)
        return self.store


def store_kind(name: str, settings: SuiteSettings | None = None) -> StoreKind:
    """Short names are ours: `balanced` is `assay-balanced`. A dotted path is one of the user's own."""
    full = f"assay-{name}" if f"assay-{name}" in OWN else name
    if full not in OWN and full not in PEERS and own_store(full) is None:
        known = [*OWN, *PEERS, *find_offered_stores()]
        raise UsageError(f"{unknown('store', name, known)}; or give one of your own: module:Class")
    return StoreKind(full, settings or SuiteSettings())


def list_installed_stores() -> list[str]:
    bundled = [name for name, kind in PEERS.items() if kind.installed and not kind.lossy]
    return [*OWN, *bundled, *find_loadable_stores()]


def missing_stores() -> list[str]:
    return [name for name, kind in PEERS.items() if not kind.installed]
