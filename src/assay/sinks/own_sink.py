"""Sinks that a user keeps in a module beside the configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from assay.fallback.stand_ins import install
from assay.names import UnknownComponent, load, load_module, look_in, quote
from assay.sinks.spec import BESIDE

FOLDERS = ("", "sinks", "runner/sinks")
"""Where a sink that is known by its name alone is looked for, below each folder."""
_HOOKS = ("process_result", "start_run")
"""A class with one of these is a sink, of the newer form or of the older."""


def locate(written: Mapping[str, Any], folders: Sequence[Path]) -> Mapping[str, Any]:
    """What the configuration says of a user's own sink, with where its class is looked for; a name without `class:`
    is that of a module."""
    own = str(written.get("class") or own_sink_module(str(written.get("name")), folders) or "")
    return {**written, "class": own, BESIDE: [str(folder) for folder in folders]} if own else written


def own_sink_module(name: str, folders: Sequence[Path]) -> str | None:
    """`my_custom` → `runner.sinks.my_custom_sink`, where there is such a file."""
    if not name.isidentifier():
        return None
    for folder in folders:
        for below in FOLDERS:
            for stem in (f"{name}_sink", *([name] if below else [])):
                if (folder / below / f"{stem}.py").is_file():
                    return ".".join((*Path(below).parts, stem))
    return None


def own_sink_class(path: str, beside: Sequence[str]) -> type[Any]:
    """Class at a dotted path, which names it or a module with one sink. For a process that is the sink's alone: its
    folders stay on the import path and the stand-ins in place, since a hook may import as well."""
    look_in(*reversed(beside))
    install()
    found = load(path)
    if found is None or isinstance(found, ModuleType):
        module = load_module(path, path)
        if module is None:
            places = f" below {', '.join(beside)}, nor installed" if beside else ""
            raise UnknownComponent(f"nothing is at {quote(path)}{places}")
        found = _only_sink(module)
    if not isinstance(found, type):
        raise UnknownComponent(f"{quote(path)} is no sink: it is not a class")
    return found


def _only_sink(module: ModuleType) -> type[Any]:
    sinks = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and value.__module__ == module.__name__
        and any(callable(getattr(value, hook, None)) for hook in _HOOKS)
    ]
    if len(sinks) == 1:
        return sinks[0]
    name = module.__name__
    if not sinks:
        raise UnknownComponent(f"{name} has no sink: no class with a method {' or '.join(_HOOKS)}")
    raise UnknownComponent(
        f"{name} has {len(sinks)} sinks; say which: {', '.join(f'class: {name}:{sink.__name__}' for sink in sinks)}"
    )
