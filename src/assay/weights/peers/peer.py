from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from assay.errors import MissingExtra, UsageError
from assay.names import load, unknown
from assay.weights.store import WeightStore


@dataclass(frozen=True)
class Peer:
    """A store by name. Its module is imported only when it is opened, since each needs a library of its own."""

    name: str
    summary: str
    module: str
    store: str
    library: str
    extra: str = "weights"
    options: tuple[tuple[str, Any], ...] = ()
    lossy: bool = False

    @property
    def installed(self) -> bool:
        if self.library == "coral":
            from assay.weights.peers.coral_process import coral_python

            return coral_python() is not None
        if is_own(self.name) and str(Path.cwd()) not in sys.path:
            sys.path.insert(0, str(Path.cwd()))  # beside what is measured, as a suite of one's own
        return find_spec(self.library) is not None

    def open(self, path: Path) -> WeightStore:
        if is_own(self.name) and not self.installed:
            raise UsageError(f"store {self.name}: there is no module {self.module} here, nor is it installed")
        # coral-ml is in no extra of ours; its own store says where it comes from.
        if self.library != "coral" and not self.installed:
            raise MissingExtra(f"{self.library}, which the store {self.name!r} needs,", self.extra)
        store = load(f"{self.module}:{self.store}")
        if store is None:
            raise UsageError(f"store {self.name}: there is no {self.store} in that module")
        made = store(path, **dict(self.options))
        if not isinstance(made, WeightStore):
            raise UsageError(f"store {self.name}: {self.store} lacks one of save, load, commit and stats")
        return made


def _here(name: str, summary: str, file: str, store: str, library: str, **more: Any) -> Peer:
    return Peer(name, summary, f"assay.weights.peers.{file}", store, library, **more)


_OWN = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


def is_own(name: str) -> bool:
    return _OWN.fullmatch(name) is not None


PEERS = {
    peer.name: peer
    for peer in (
        _here(
            "safetensors", "a plain safetensors file a version", "safetensors_store", "SafetensorsStore", "safetensors"
        ),
        _here("h5py-gzip", "HDF5, gzip level 4", "hdf5_store", "Hdf5Store", "h5py", options=(("compression", "gzip"),)),
        _here("h5py-lzf", "HDF5, lzf", "hdf5_store", "Hdf5Store", "h5py", options=(("compression", "lzf"),)),
        _here("zstd", "zstd level 3 on the raw bytes", "zstd_store", "ZstdStore", "zstandard"),
        _here("blosc2", "bit shuffle and lz4", "blosc2_store", "Blosc2Store", "blosc2"),
        _here("zipnn", "byte groups and Huffman", "zipnn_store", "ZipnnStore", "zipnn", extra="torch"),
        _here(
            "zipnn-xor",
            "zipnn on the XOR with the version before",
            "zipnn_store",
            "ZipnnStore",
            "zipnn",
            extra="torch",
            options=(("xor", True),),
        ),
        _here("coral-ml", "the store the suites were first written for", "coral_store", "CoralStore", "coral"),
        _here(
            "float16-cast",
            "casts floats to float16: loses bits on purpose, to show that the accuracy suite finds them",
            "lossy_store",
            "LossyStore",
            "numpy",
            lossy=True,
        ),
    )
}


def peer(name: str) -> Peer:
    """By its name, or one of the user's own by its dotted path: `my_module:MyStore`."""
    if is_own(name):
        module, _, store = name.partition(":")
        return Peer(name, "a store of your own", module, store, module.partition(".")[0])
    try:
        return PEERS[name]
    except KeyError:
        raise UsageError(unknown("store", name, PEERS)) from None
