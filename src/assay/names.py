"""Names that users write: one phrase for a name that is not known, and one way from a name to a class.

Every package may import this, so it imports nothing that takes time before it is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from assay.errors import UsageError

MOST_SHOWN = 12
"""Known names that a message lists; further ones are counted."""
ALIKE = 0.6
"""How near a known name must be for "did you mean", from 0 to 1."""

T = TypeVar("T")


def quote(name: object) -> str:
    """The name in single quotes, whatever is in it; what cannot be printed is escaped."""
    written = repr(str(name))
    return f"'{written[1:-1]}'"


def unknown(kind: str, name: object, known: Iterable[object] | None, of: str = "") -> str:
    """`unknown store 'fst'; did you mean 'fast'? (known: small, balanced, fast)`.

    `known` in the order to list them, or None where they cannot be told; `of` is what should have the name. A name
    that is no text (a number) is written as it is, and nothing is near it.
    """
    names = None if known is None else [str(one) for one in known]
    said = f"unknown {kind} {quote(name) if isinstance(name, str) else name}{' of ' if of else ''}{of}"
    near = _nearest(name, names) if isinstance(name, str) and names else None
    if near is not None:
        said += f"; did you mean {quote(near)}?"
    return said if names is None else f"{said} (known: {list_names(names)})"


def list_names(names: Iterable[str]) -> str:
    shown = [quote(name)[1:-1] for name in names]
    more = len(shown) - MOST_SHOWN
    return (", ".join(shown[:MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")) or "none"


def _nearest(name: str, names: list[str]) -> str | None:
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, names, n=1, cutoff=ALIKE)), None)


class UnknownComponent(UsageError):
    pass


class Registry(Generic[T]):
    """Names → classes that inherit from `base`, imported when asked for.

    A component is a registered name, or a dotted path (`package.module:Class` or `package.module.Class`), as it is
    or under `assay.`.
    """

    def __init__(self, kind: str, base: type[T], names: Mapping[str, str] | None = None) -> None:
        self.kind = kind
        self._base = base
        self._paths = dict(names or {})

    def register(self, name: str, path: str) -> None:
        self._paths[name] = path

    __setitem__ = register

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __contains__(self, name: object) -> bool:
        return name in self._paths

    def find(self, name: str) -> type[T]:
        path = self._paths.get(name, name)
        found = next((c for c in (load(path), load(f"assay.{path}")) if c is not None), None)
        if found is None:
            dotted = "nothing is at that path" if "." in path else "or give a dotted path: package.module.Class"
            raise UnknownComponent(f"{unknown(self.kind, name, self._paths)}; {dotted}")
        if not isinstance(found, type):
            raise UnknownComponent(f"{quote(name)} is no {self.kind}: it is not a class")
        if not issubclass(found, self._base):
            why = f"it does not inherit from {self._base.__name__}{_other_base(found)}"
            raise UnknownComponent(f"{quote(name)} is no {self.kind}: {why}")
        return found

    def class_name(self, name: str) -> str:
        """What users call the class: the last part of its path, where the class itself may have a longer name."""
        return self._paths.get(name, name).replace(":", ".").rpartition(".")[2]


def _other_base(found: type[Any]) -> str:
    """Said of a class whose base is that of another framework, there under the name that ours could stand in for."""
    import sys

    from assay.compat.stand_ins import STAND_INS

    other = next((base for base in found.__mro__ if base.__module__ in STAND_INS), None)
    if other is None:
        return ""
    file = getattr(sys.modules.get(other.__module__), "__file__", None) or other.__module__
    return f" of Assay but from that of {file}; where {other.__module__} is not found, Assay's own stands in"


def look_in(*folders: object) -> None:
    """Modules of a user's own are found in these folders as well, the last of them first, in this process."""
    import sys

    for folder in map(str, folders):
        if folder not in sys.path:
            sys.path.insert(0, folder)


def load(path: str) -> Any:
    """What a dotted path leads to; None where it leads nowhere. A module that is there but fails to import says why."""
    module_name, _, attribute = path.replace(":", ".").rpartition(".")
    module = load_module(module_name, path) if attribute.isidentifier() else None
    return getattr(module, attribute, None)


def load_module(name: str, path: str) -> Any:
    """The module, or None where there is none; `path` is what messages call it. What it imports of other frameworks may
    be ours, but it is never itself a stand-in."""
    from importlib import import_module

    from assay.compat.stand_ins import STAND_INS
    from assay.compat.user_code import loading_user_code

    if not all(part.isidentifier() for part in name.split(".")) or name in STAND_INS:
        return None
    try:
        with loading_user_code():
            return import_module(name)
    except ImportError as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and f"{name}.".startswith(f"{missing}."):
            return None
        raise UnknownComponent(f"{path}: {_why(error, missing)}{_where(error)}") from None
    except Exception as error:
        why = f"{type(error).__name__}: {error}{_where(error)}"
        raise UnknownComponent(f"{path}: its module cannot be imported: {why}") from error


def _where(error: Exception) -> str:
    """The last line of the user's own code on the way to the error: ` (stage.py, line 3)`."""
    import sysconfig
    from pathlib import Path
    from traceback import extract_tb

    if isinstance(error, SyntaxError):
        return ""  # It says so itself.
    others = (*(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")), str(Path(__file__).parent), "<")
    own = [frame for frame in extract_tb(error.__traceback__) if not frame.filename.startswith(others)]
    return f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""


def _why(error: ImportError, missing: str | None) -> str:
    from assay.compat.user_code import advice

    why = f"its module needs {quote(missing)}, which is not installed"
    if missing is None or str(error) != f"No module named {missing!r}":
        why = f"its module cannot be imported: {error}"
    what = advice(str(error))
    return f"{why}; {what}" if what else why
