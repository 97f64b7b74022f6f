"""Reads a pickle without importing or calling anything it names.

A pickle is a program. `find_class` is where it reaches for code, so here it never does: every class it names
becomes an inert stand-in that only keeps the state it was given. The few callables that a plain data pickle
needs (`copyreg._reconstructor`, `object`, `collections.OrderedDict` …) are stand-ins of ours with the same
shape. See the `pickle` documentation, "Restricting Globals".
"""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict
from typing import Any

from assay.errors import DataError


class Inert:
    """An object of a class that was not imported: `kind` is its dotted name, `state` what it carried."""

    kind = "?"

    state: dict[str, Any]

    def __new__(cls, *args: Any, **kwargs: Any) -> Inert:
        """State is made here because a pickle makes objects without calling `__init__`."""
        self = super().__new__(cls)
        self.state = {}
        return self

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        parts = state if isinstance(state, tuple) else (state,)
        for part in parts:
            if isinstance(part, dict):
                self.state.update({str(key): value for key, value in part.items()})

    def append(self, item: Any) -> None:
        self.state.setdefault("items", []).append(item)

    def extend(self, items: Any) -> None:
        self.state.setdefault("items", []).extend(items)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.state[str(key)] = value

    def __call__(self, *args: Any, **kwargs: Any) -> Inert:
        return self

    def __hash__(self) -> int:
        return id(self)


class InertUnpickler(pickle.Unpickler):
    """`unknown` collects the classes that were met, by dotted name."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self.unknown: set[str] = set()
        self._classes: dict[str, type[Inert]] = {}

    def find_class(self, module: str, name: str) -> Any:
        dotted = f"{module}.{name}"
        if dotted in _SHAPES:
            return _SHAPES[dotted]
        self.unknown.add(dotted)
        if dotted not in self._classes:
            self._classes[dotted] = type("Inert", (Inert,), {"kind": dotted})
        return self._classes[dotted]

    def persistent_load(self, pid: Any) -> Any:
        return Inert()


def _reconstruct(cls: Any, base: Any, state: Any) -> Any:
    return cls() if isinstance(cls, type) and issubclass(cls, Inert) else Inert()


_SHAPES: dict[str, Any] = {
    "copyreg._reconstructor": _reconstruct,
    "copy_reg._reconstructor": _reconstruct,
    "builtins.object": Inert,
    "builtins.set": set,
    "builtins.frozenset": frozenset,
    "builtins.list": list,
    "builtins.dict": dict,
    "builtins.tuple": tuple,
    "builtins.complex": complex,
    "collections.OrderedDict": dict,
}

# Reads the pickle of a PyTorch checkpoint without PyTorch and without running anything in it.
#
# A handful of names is known; every other becomes an inert object. Who reads the checkpoint says what a storage is
# and
# how a tensor is made of it.

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


_PythonUnpickler: Any = pickle._Unpickler
_LARGEST_KEY = 1 << 60
_LONGEST_KEY = 4096


class NotData:
    """Stands for anything a pickle names that is not data. Calling it gives another one."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __setstate__(self, _: Any) -> None:
        pass

    def __call__(self, *_: Any, **__: Any) -> NotData:
        return NotData()


class Storage:
    def __init__(self, dtype: str) -> None:
        self.dtype = dtype


class Dtype:
    def __init__(self, name: str) -> None:
        self.name = name


class TorchUnpickler(_PythonUnpickler):  # type: ignore[misc]
    """Python's own, because the one in C hashes whatever a pickle uses as a key, which can take for ever.

    A key must be text or a whole number: a tuple of tuples can be of exponential size, and large numbers can be
    chosen so that all of them have one hash.
    """

    dispatch = dict(_PythonUnpickler.dispatch)

    def __init__(self, data: bytes, storage: Any, rebuild: Any) -> None:
        super().__init__(io.BytesIO(data))
        self._storage = storage
        self._rebuild = rebuild

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return _make_ordered
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
        return NotData

    def persistent_load(self, saved: Any) -> Any:
        described = isinstance(saved, tuple) and len(saved) >= 3 and saved[0] == "storage"
        if not described or not isinstance(saved[1], Storage):
            raise DataError("a storage is not described as PyTorch does")
        if not isinstance(saved[2], str) or len(saved[2]) > _LONGEST_KEY:
            raise DataError("a storage is not described as PyTorch does")
        return self._storage(saved[2], saved[1].dtype)

    def _set_item(self) -> None:
        _check_key(self.stack[-2])
        self.load_setitem()

    def _set_items(self) -> None:
        for key in self.stack[::2]:
            _check_key(key)
        self.load_setitems()

    def _make_dict(self) -> None:
        for key in self.stack[::2]:
            _check_key(key)
        self.load_dict()

    def _add_items(self) -> None:
        for key in self.stack:
            _check_key(key)
        self.load_additems()

    def _make_frozen(self) -> None:
        for key in self.stack:
            _check_key(key)
        self.load_frozenset()

    dispatch[pickle.SETITEM[0]] = _set_item
    dispatch[pickle.SETITEMS[0]] = _set_items
    dispatch[pickle.DICT[0]] = _make_dict
    dispatch[pickle.ADDITEMS[0]] = _add_items
    dispatch[pickle.FROZENSET[0]] = _make_frozen


def _check_key(key: Any) -> None:
    if not isinstance(key, str | bytes | bool | None) and not (type(key) is int and abs(key) < _LARGEST_KEY):
        raise DataError("a dictionary or set has a key that is neither text nor a number of at most 60 bits")


def _make_ordered(*given: Any) -> OrderedDict[Any, Any]:
    """The class itself would hash what it is given."""
    pairs = [pair for some in given if isinstance(some, list | tuple) for pair in some]
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise DataError("an OrderedDict is not made of pairs")
        _check_key(pair[0])
    return OrderedDict(pairs)


def _parameter(data: Any, *_: Any) -> Any:
    return data
