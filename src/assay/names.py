from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Generic, TypeVar

from assay.errors import AssayError

T = TypeVar("T")


class UnknownComponent(AssayError):
    pass


class Registry(Generic[T]):
    """Names → classes, imported when asked for.

    A component is a registered name, a dotted path as it is, or a dotted path under `assay.`.
    """

    def __init__(self, kind: str, base: type[T], names: dict[str, str] | None = None) -> None:
        self.kind = kind
        self._base = base
        self._paths = dict(names or {})

    def register(self, name: str, path: str) -> None:
        self._paths[name] = path

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def find(self, name: str) -> type[T]:
        path = self._paths.get(name, name)
        found = next((c for c in (_load(path), _load(f"assay.{path}")) if c is not None), None)
        if found is None:
            raise UnknownComponent(f"no {self.kind} named {name!r}{self._hint(name)}")
        if not (isinstance(found, type) and issubclass(found, self._base)):
            raise UnknownComponent(f"{name!r} is not a {self.kind}: it does not inherit from {self._base.__name__}")
        return found

    def _hint(self, name: str) -> str:
        near = get_close_matches(name, self._paths, n=1)
        if near:
            return f"; did you mean `{near[0]}`?"
        known = ", ".join(sorted(self._paths)) or "none"
        return f"; registered: {known}; or give a dotted path such as package.module.ClassName"


def _load(path: str) -> Any:
    """None where the path leads nowhere; a module that is there but fails to import says why."""
    module_name, _, attribute = path.replace(":", ".").rpartition(".")
    if not module_name:
        return None
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name == error.name or module_name.startswith(error.name + ".")):
            return None
        raise UnknownComponent(f"{path}: its module needs {error.name!r}, which is not installed") from None
    except ImportError as error:
        raise UnknownComponent(f"{path}: its module cannot be imported: {error}") from None
    return getattr(module, attribute, None)
