"""Which distributions a source file imports, by its syntax tree."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import distribution, packages_distributions
from pathlib import Path, PurePosixPath

IMPORTERS = {"import_module", "find_spec", "__import__", "importorskip", "library"}


def imports(tree: ast.AST) -> Iterator[str]:
    """Dotted names of modules, in functions too, and those given as a string to `find_spec` and its kin."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and _called(node) in IMPORTERS:
            named = node.args[0] if node.args else None
            if isinstance(named, ast.Constant) and isinstance(named.value, str):
                yield named.value


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def distributions(tree: ast.AST, own: frozenset[str]) -> set[str]:
    """`own` are the names that are ours. A module that no installed distribution has stands for itself."""
    names = {name for name in imports(tree) if name.partition(".")[0] not in own | sys.stdlib_module_names}
    return {provider(name) for name in names}


@cache
def provider(module: str) -> str:
    found = sorted({canonical(name) for name in _providers().get(module.partition(".")[0], [])})
    if len(found) > 1:
        # A namespace of several distributions (google, opentelemetry): the one with the deepest folder or file.
        found.sort(key=lambda name: _depth(name, module), reverse=True)
    return found[0] if found else f"{module} (not installed here)"


@cache
def _providers() -> Mapping[str, list[str]]:
    return packages_distributions()


@cache
def _modules(name: str) -> frozenset[str]:
    """Modules of a distribution, and the packages they are in."""
    found: set[str] = set()
    for file in distribution(name).files or []:
        path = PurePosixPath(str(file))
        if path.suffix == ".py":
            parts = path.parent.parts if path.name == "__init__.py" else path.with_suffix("").parts
            found.update(".".join(parts[:depth]) for depth in range(1, len(parts) + 1))
    return frozenset(found)


def _depth(name: str, module: str) -> int:
    parts = module.split(".")
    return max((depth for depth in range(len(parts) + 1) if ".".join(parts[:depth]) in _modules(name)), default=0)


def canonical(requirement: str) -> str:
    """The name that a requirement begins with, as registries write it."""
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name, requirement
    return re.sub(r"[-_.]+", "-", name.group()).lower()


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))
