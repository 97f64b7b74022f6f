from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from assay.errors import MissingExtra, UsageError
from assay.names import load, unknown
from assay.weights.peers.own_store import OwnStore, find_offered_stores, own_store
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
    programs: tuple[str, ...] = ()
    """What it starts, each found on the PATH or in `.peers`."""
    install: str = ""
    """How to get what is in no extra of ours."""

    @property
    def installed(self) -> bool:
        if self.library == "coral":
            from assay.weights.peers.coral import coral_python

            return coral_python() is not None
        return find_spec(self.library) is not None and not self._missing_programs()

    def open(self, path: Path) -> WeightStore:
        # CoralStore itself says where coral-ml comes from.
        if self.library != "coral" and not self.installed:
            missing = ", ".join(self._missing_programs()) or self.library
            if self.install:
                raise UsageError(
                    f"the store {self.name!r} needs {missing}, not installed here. Install: {self.install}"
                )
            raise MissingExtra(f"{self.library}, which the store {self.name!r} needs,", self.extra)
        made: WeightStore = load(f"{self.module}:{self.store}")(path, **dict(self.options))
        return made

    def _missing_programs(self) -> list[str]:
        if not self.programs:
            return []
        from assay.weights.peers.git_stores import find_program

        return [program for program in self.programs if find_program(program) is None]


def _here(name: str, summary: str, file: str, store: str, library: str, **more: Any) -> Peer:
    return Peer(name, summary, f"assay.weights.peers.{file}", store, library, **more)


_OWN = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


PEERS = {
    peer.name: peer
    for peer in (
        _here("safetensors", "a plain safetensors file a version", "file_stores", "SafetensorsStore", "safetensors"),
        _here(
            "h5py-gzip", "HDF5, gzip level 4", "file_stores", "Hdf5Store", "h5py", options=(("compression", "gzip"),)
        ),
        _here("h5py-lzf", "HDF5, lzf", "file_stores", "Hdf5Store", "h5py", options=(("compression", "lzf"),)),
        _here("zstd", "zstd level 3 on the raw bytes", "framed_stores", "ZstdStore", "zstandard"),
        _here("blosc2", "bit shuffle and lz4", "framed_stores", "Blosc2Store", "blosc2"),
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
        _here("xet", "chunks by content, after Xet", "xet_store", "XetStore", "hf_xet", install="pip install hf-xet"),
        _here(
            "git-lfs",
            "git with its large-file storage",
            "git_stores",
            "GitLfsStore",
            "safetensors",
            programs=("git", "git-lfs"),
            install="apt-get install git-lfs, or see https://git-lfs.com",
        ),
        _here(
            "dvc",
            "DVC beside git",
            "git_stores",
            "DvcStore",
            "safetensors",
            programs=("git", "dvc"),
            install="pipx install dvc, or pip install dvc in an environment on the PATH",
        ),
        _here(
            "git-theta",
            "tensors of their own through git-lfs",
            "git_stores",
            "GitThetaStore",
            "safetensors",
            programs=("git", "git-lfs", "git-theta-filter"),
            install="pipx install 'git-theta[safetensors]', and git-lfs from https://git-lfs.com",
        ),
        _here("coral-ml", "the store the suites were first written for", "coral", "CoralStore", "coral"),
        _here(
            "float16-cast",
            "casts floats to float16: loses bits on purpose, to show that the accuracy suite finds them",
            "framed_stores",
            "LossyStore",
            "numpy",
            lossy=True,
        ),
    )
}


def peer(name: str) -> Peer | OwnStore:
    """A bundled one, one that an installed package offers, or one by its dotted path."""
    found = PEERS.get(name) or own_store(name)
    if found is None:
        raise UsageError(unknown("store", name, [*PEERS, *find_offered_stores()]))
    return found
