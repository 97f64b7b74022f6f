"""Branches that a process of pytest reaches, an xdist worker included: registered by tests/conftest.py."""

from __future__ import annotations

import gc
import importlib.abc
import json
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import pytest
from tools.branch_probes import REACHED, BranchProbes, is_measured

PACKAGE = "assay"
TO = Path(__file__).parents[2] / ".coverage"


class BranchCoverage(importlib.abc.MetaPathFinder):
    """Modules of the package are imported with probes; in front of pytest's own finder, which would rewrite the asserts
    of a package that is one of its plugins."""

    def __init__(self) -> None:
        self._reached: dict[str, list[int]] = {}
        for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
            self._probe_loaded(sys.modules[name])
        sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != PACKAGE:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or not isinstance(spec.loader, SourceFileLoader):
            return spec
        if is_measured(Path(spec.loader.path).read_text(encoding="utf-8")):
            spec.loader = ProbedLoader(fullname, spec.loader.path, self._reached)
        return spec

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        TO.mkdir(exist_ok=True)
        (TO / f"{os.getpid()}.json").write_text(json.dumps(self._reached), encoding="utf-8")

    def _probe_loaded(self, module: ModuleType) -> None:
        """What pytest imported before us: its functions get the code that they would have with probes."""
        loader = ProbedLoader(module.__name__, str(module.__file__), self._reached)
        code = loader.get_code(module.__name__)
        assert code is not None
        probed = {(inner.co_qualname, inner.co_firstlineno): inner for inner in _codes(code)}
        loader.give_list(module)
        for function in gc.get_objects():
            if isinstance(function, FunctionType) and function.__globals__ is vars(module):
                own = function.__code__
                function.__code__ = probed.get((own.co_qualname, own.co_firstlineno), own)


class ProbedLoader(SourceFileLoader):
    def __init__(self, name: str, path: str, reached: dict[str, list[int]]) -> None:
        super().__init__(name, path)
        self._reached = reached

    def path_stats(self, path: str) -> dict[str, float]:
        raise OSError  # So that bytecode without probes is not taken, nor any with them kept.

    def source_to_code(self, data: bytes, path: str) -> CodeType:  # type: ignore[override]
        probes = BranchProbes()
        code = probes.probed(data, path)
        self._reached[path] = [0] * len(probes.lines)
        return code

    def exec_module(self, module: ModuleType) -> None:
        code = self.get_code(module.__name__)
        assert code is not None
        self.give_list(module)
        exec(code, vars(module))  # noqa: S102 - as importlib does

    def give_list(self, module: ModuleType) -> None:
        setattr(module, REACHED, self._reached[self.path])


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)
