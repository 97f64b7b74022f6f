from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from assay.weights.dtype import ELEMENT_TYPES, bits_of, element_type
from assay.weights.peers.snapshot import SnapshotStore
from assay.weights.store import Tensor


class Hdf5Store(SnapshotStore):
    """HDF5 knows no bfloat16 or float8 and changes NaN of none: every tensor goes in as its bits, with its dtype."""

    suffix = ".h5"

    def __init__(self, path: Path, compression: str = "gzip") -> None:
        super().__init__(path)
        self.compression = compression

    def write(self, file: Path, tensors: Mapping[str, Tensor]) -> None:
        import h5py

        with h5py.File(file, "w") as opened:
            for number, (name, tensor) in enumerate(tensors.items()):
                options: dict[str, Any] = {"compression": self.compression} if tensor.size else {}
                if options.get("compression") == "gzip":
                    options["compression_opts"] = 4
                data = opened.create_dataset(f"t{number}", data=bits_of(tensor), **options)
                data.attrs["name"] = name
                data.attrs["dtype"] = element_type(tensor.dtype).name
                data.attrs["shape"] = list(tensor.shape)

    def read(self, file: Path, names: Iterable[str] | None) -> dict[str, Tensor]:
        import h5py

        wanted = None if names is None else set(names)
        found = {}
        with h5py.File(file, "r") as opened:
            for data in opened.values():
                name = str(data.attrs["name"])
                if wanted is None or name in wanted:
                    kind = ELEMENT_TYPES[str(data.attrs["dtype"])].numpy
                    shape = tuple(int(size) for size in data.attrs["shape"])
                    found[name] = data[()].view(kind).reshape(shape)
        return found
