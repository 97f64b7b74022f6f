"""Reads the pickle of a PyTorch checkpoint without PyTorch and without running anything in it.

A handful of names is known; every other becomes an inert object. Who reads the checkpoint says what a storage is and
how a tensor is made of it.
"""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict
from typing import Any

from assay.errors import DataError

_STORAGES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
    "Float8_e4m3fnStorage": "float8_e4m3fn",
    "Float8_e5m2Storage": "float8_e5m2",
}
_DTYPES = {
    "float8_e4m3fn": "float8_e4m3fn",
    "float8_e5m2": "float8_e5m2",
    "uint16": "uint16",
    "uint32": "uint32",
    "uint64": "uint64",
}


class Inert:
    """Stands for anything a pickle names that is not data. Calling it gives another one."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __setstate__(self, _: Any) -> None:
        pass

    def __call__(self, *_: Any, **__: Any) -> Inert:
        return Inert()


class Storage:
    def __init__(self, dtype: str) -> None:
        self.dtype = dtype


class Dtype:
    def __init__(self, name: str) -> None:
        self.name = name


class TorchUnpickler(pickle.Unpickler):
    def __init__(self, data: bytes, storage: Any, rebuild: Any) -> None:
        super().__init__(io.BytesIO(data))
        self._storage = storage
        self._rebuild = rebuild

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if module == "torch._utils" and name in ("_rebuild_tensor_v2", "_rebuild_tensor", "_rebuild_tensor_v3"):
            return self._rebuild
        if module == "torch._utils" and name in ("_rebuild_parameter", "_rebuild_parameter_with_state"):
            return _parameter
        if module in ("torch", "torch.storage"):
            if name in _STORAGES:
                return Storage(_STORAGES[name])
            if name in ("UntypedStorage", "TypedStorage"):
                return Storage("uint8")
            if name in _DTYPES:
                return Dtype(_DTYPES[name])
        return Inert

    def persistent_load(self, saved: Any) -> Any:
        described = isinstance(saved, tuple) and len(saved) >= 3 and saved[0] == "storage"
        if not described or not isinstance(saved[1], Storage):
            raise DataError("a storage is not described as PyTorch does")
        return self._storage(str(saved[2]), saved[1].dtype)


def _parameter(data: Any, *_: Any) -> Any:
    return data
