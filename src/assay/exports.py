"""The names of a package, imported when asked for (PEP 562).

It imports nothing, not even `typing`: the supervisor process of every run imports `assay`, and is to start at once.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from importlib.machinery import ModuleSpec
    from types import ModuleType
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


class MovedModules:
    """Keeps former paths of modules importable: each answers with the names of the module that has them now.

    sys.meta_path.append(MovedModules({"assay.loadgen.http.exchange_file": "assay.loadgen.http.exchanges"}))
    """

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = modules

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name not in self._modules:
            return None
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        from importlib import import_module

        now = import_module(self._modules[module.__name__])
        module.__dict__["__getattr__"] = lambda name: getattr(now, name)
