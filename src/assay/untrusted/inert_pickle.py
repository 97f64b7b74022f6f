"""Reads a pickle without importing or calling anything it names.

A pickle is a program. `find_class` is where it reaches for code, so here it never does: every class it names
becomes an inert stand-in that only keeps the state it was given. The few callables that a plain data pickle
needs (`copyreg._reconstructor`, `object`, `collections.OrderedDict` …) are stand-ins of ours with the same
shape. See the `pickle` documentation, "Restricting Globals".
"""

from __future__ import annotations

import io
import pickle
from typing import Any


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
