from __future__ import annotations

import dataclasses
import enum
import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from tools.site.reference.markdown import page

PACKAGES = (
    "assay",
    "assay.pipeline",
    "assay.loadgen",
    "assay.record",
    "assay.analysis",
    "assay.history",
    "assay.sinks",
    "assay.weights",
    "assay.stats",
    "assay.benchmarks.weights",
)
SUMMARY = (
    "What may be imported, from the code's own signatures and docstrings. Everything here is in some `__all__`; "
    "what is not may move. [The guide](../python.md) shows how the first names are used."
)


def python_page() -> str:
    return page("Python", SUMMARY, _parts())


def public_names(package: str) -> list[str]:
    module = import_module(package)
    return [name for name in getattr(module, "__all__", ()) if name != "__version__"]


def _parts() -> Iterator[str]:
    for package in PACKAGES:
        names = public_names(package)
        if not names:
            continue
        yield f"## {package}"
        if said := _said(import_module(package)):
            yield said
        for name in names:
            yield from _described(package, name, getattr(import_module(package), name))


def _described(package: str, name: str, thing: Any) -> Iterator[str]:
    yield f"### {package}.{name} {{ #{package}.{name} }}"
    if inspect.isclass(thing) or inspect.isfunction(thing):
        yield f"```python\n{'class ' if inspect.isclass(thing) else ''}{name}{_signature(thing)}\n```"
    elif not inspect.ismodule(thing):
        yield f"`{type(thing).__name__}`: `{thing!r}`" if len(repr(thing)) < 200 else f"`{type(thing).__name__}`"
    if said := _said(thing):
        yield said
    if inspect.isclass(thing):
        yield from _methods(thing)


def _methods(owner: type[Any]) -> Iterator[str]:
    if issubclass(owner, enum.Enum):
        yield "Values: " + ", ".join(f"`{member.name}`" for member in owner)
        return
    for name, member in vars(owner).items():
        if name.startswith("_"):
            continue
        plain = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if isinstance(member, property):
            yield f"`{name}`" + _behind(member)
        elif inspect.isfunction(plain):
            yield f"`{name}{_signature(plain)}`" + _behind(plain)


def _behind(thing: Any) -> str:
    said = _said(thing)
    return f"\n:   {said.replace(chr(10), chr(10) + '    ')}" if said else "\n:   –"


def _signature(thing: Any) -> str:
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return "(…)"
    inside = [str(one) for one in found.parameters.values() if one.name != "self"]
    answer = "" if found.return_annotation in (inspect.Signature.empty, None, "None") else f" -> {_plain(found)}"
    return f"({', '.join(inside)}){answer}".replace("'", "") if "'" in str(found) else f"({', '.join(inside)}){answer}"


def _plain(found: inspect.Signature) -> str:
    said = found.return_annotation
    return said if isinstance(said, str) else inspect.formatannotation(said)


def _said(thing: Any) -> str:
    """Its own docstring: not the one that every dataclass and every exception has."""
    own = vars(thing).get("__doc__") if inspect.isclass(thing) else inspect.getdoc(thing)
    said = inspect.cleandoc(own or "")
    made = dataclasses.is_dataclass(thing) and said.startswith(f"{getattr(thing, '__name__', '')}(")
    return "" if made else said
