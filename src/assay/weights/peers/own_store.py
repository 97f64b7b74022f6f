"""Stores of users' own: by dotted path (`my_module:Store`), or offered by an installed package."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from assay.errors import AssayError, UsageError
from assay.names import load, look_in
from assay.weights.store import WeightStore

GROUP = "assay.weight_stores"
METHODS = ("save", "load", "commit", "stats")


@dataclass(frozen=True)
class OwnStore:
    """A store of a user's own. `make` is a class or a function: it is given the folder that is to hold everything."""

    name: str
    """The store as it was named: a name, or a path that leads there from any process started in the same folder."""
    make: Callable[[Path], Any]
    summary: str = "one of your own"
    lossy: bool = False
    installed: bool = True

    def open(self, path: Path) -> WeightStore:
        try:
            made = self.make(path)
        except AssayError:
            raise
        except Exception as error:
            raise UsageError(f"store {self.name} cannot be opened: {type(error).__name__}: {error}") from error
        check_methods(self.name, made)
        store: WeightStore = made
        return store


def own_store(name: str) -> OwnStore | None:
    """None where the name is neither offered nor a path."""
    offered = find_offered_stores().get(name)
    if offered is not None:
        try:
            return _make(name, offered.load())
        except AssayError:
            raise
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            raise UsageError(f"store {name} ({offered.value}) does not load: {why}") from error
    if "." not in name and ":" not in name:
        return None
    look_in(Path.cwd())
    found = load(name)
    if found is None:
        raise UsageError(f"store {name}: nothing is at that path; it is package.module:Class, from here or installed")
    return _make(name, found)


def find_offered_stores() -> dict[str, EntryPoint]:
    return {found.name: found for found in entry_points(group=GROUP)}


def find_loadable_stores() -> list[str]:
    """Names of offered stores that load; one that does not warns and is left out."""
    names = []
    for name in find_offered_stores():
        try:
            own_store(name)
        except AssayError as error:
            warnings.warn(str(error), stacklevel=2)
        else:
            names.append(name)
    return names


def check_methods(name: str, store: Any) -> None:
    lacking = [method for method in METHODS if not callable(getattr(store, method, None))]
    if lacking:
        raise UsageError(
            f"{name} is no store: it has no {', '.join(lacking)}; a store has {', '.join(METHODS)} "
            '(docs/weight-suites.md, "A store of one\'s own")'
        )


def _make(name: str, found: Any) -> OwnStore:
    if not callable(found):
        raise UsageError(f"{name} is no store: it is neither a class nor a function that makes one from a folder")
    if isinstance(found, type):
        check_methods(name, found)
    return OwnStore(name, found)
