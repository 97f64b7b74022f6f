"""The names of a package, imported when asked for (PEP 562).

It imports nothing, not even `typing`: the supervisor process of every run imports `assay`, and is to start at once.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def exports(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for it. `modules`: its public names → the modules below it that have them, with
    `:Class` where the class itself has a longer name.

    __getattr__, __dir__ = exports(__name__, {"Pipeline": "pipeline", "Inference": "inference:ServerInference"})
    """

    def get(name: str) -> Any:
        from importlib import import_module

        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        module, _, own = modules[name].partition(":")
        return getattr(import_module(f"{package}.{module}"), own or name)

    def names() -> list[str]:
        return sorted(modules)

    return get, names
