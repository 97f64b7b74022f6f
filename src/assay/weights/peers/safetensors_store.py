from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from assay.weights.dtype import ELEMENT_TYPES, bits_of, element_type
from assay.weights.peers.snapshot import SnapshotStore
from assay.weights.store import Tensor

NATIVE = frozenset(
    [
        *("float64", "float32", "float16", "complex64", "bool"),
        *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    ]
)
"""What the library's numpy side reads back; the others go in as their bits, and their names into the metadata."""


class SafetensorsStore(SnapshotStore):
    suffix = ".safetensors"

    def write(self, file: Path, tensors: Mapping[str, Tensor]) -> None:
        from safetensors.numpy import save_file

        plain: dict[str, Tensor] = {}
        views: dict[str, list[object]] = {}
        for name, tensor in tensors.items():
            if tensor.dtype.name in NATIVE and tensor.flags.c_contiguous:
                plain[name] = tensor
            elif tensor.dtype.name in NATIVE:
                plain[name] = np.ascontiguousarray(tensor).reshape(tensor.shape)
            else:
                plain[name] = bits_of(tensor)
                views[name] = [element_type(tensor.dtype).name, list(tensor.shape)]
        save_file(plain, file, metadata={"views": json.dumps(views)})

    def read(self, file: Path, names: Iterable[str] | None) -> dict[str, Tensor]:
        from safetensors import safe_open

        with safe_open(file, framework="np") as opened:
            views = json.loads((opened.metadata() or {}).get("views", "{}"))
            if names is None:
                found: dict[str, Tensor] = opened.get_tensors()
            else:
                found = {name: opened.get_tensor(name) for name in names}
        return restore_views(found, views)


def restore_views(found: dict[str, Tensor], views: Mapping[str, tuple[str, list[int]]]) -> dict[str, Tensor]:
    """What went in as bits, in its own dtype and shape again."""
    for name in views.keys() & found.keys():
        kind, shape = views[name]
        found[name] = found[name].view(ELEMENT_TYPES[kind].numpy).reshape(shape)
    return found
