"""What is said of stand-ins."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from assay.fallback.stand_ins import FINDER, INSTALLED_WHOLE, ONLY, STAND_INS

_NO_MODULE = re.compile(r"No module named '([\w.]+)'")
_NO_NAME = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
_NOT_HERE = re.compile(r"([\w.]+) is not installed, and Assay's \w+ cannot stand in")


def describe_used(used: Iterable[str]) -> str:
    """One line for a log; empty where none was used."""
    names = sorted(set(used))
    if not names:
        return ""
    them = "it" if len(names) == 1 else "them"
    return f"{', '.join(names)}: not found, so Assay's own stood in for {them}"


@contextmanager
def saying_stand_ins() -> Iterator[None]:
    """Says on standard error what stood in while the block ran; for a command that loads code of a user's."""
    FINDER.take_used()
    yield
    if said := describe_used(FINDER.take_used()):
        print(said, file=sys.stderr)


def advice(error: str) -> str:
    """What to do about an import that failed, from the message of the error; empty where Assay has nothing to say."""
    missing = _NO_MODULE.search(error)
    if missing is not None:
        return _for_module(missing[1], ONLY in error)
    unable = _NOT_HERE.search(error)
    if unable is not None:
        return _install(unable[1])
    name = _NO_NAME.search(error)
    if name is not None and "(unknown location)" in error:  # A folder of the user's has the module's name.
        where, own = STAND_INS.get(name[2], {}).get(name[1], ("", ""))
        return f"Assay's own: `from {where} import {own}`" if where else ""
    return _install(name[2]) if name is not None and name[2] in STAND_INS and "stand_ins.py" in error else ""


def _for_module(module: str, stood_in: bool) -> str:
    inside = [name for name in STAND_INS if (name + ".").startswith(module + ".")]
    if stood_in or inside == ["loguru"]:
        return _install(module)
    ours = [
        f"`from {where} import {own}{'' if own == name else f' as {name}'}`"
        for each in inside
        for name, (where, own) in STAND_INS[each].items()
    ]
    return f"Assay's own: {', '.join(dict.fromkeys(ours))}" if ours else ""


def _install(module: str) -> str:
    top = module.partition(".")[0]
    if top in INSTALLED_WHOLE:
        return f"install {top} into the interpreter that runs this, or use one that has it"
    return f"put the folder {top}/ that has it beside the file that imports it"
