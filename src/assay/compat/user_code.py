"""Stand-ins for a program that Assay starts, in whichever interpreter it runs."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.compat.stand_ins import FINDER, INSTALLED_WHOLE, NOTES, ONLY, PROGRAMS, STAND_INS, install
from assay.files.reading import LOG, Unreadable, last_lines

if TYPE_CHECKING:
    from types import TracebackType


class loading_user_code:
    """Block in which a class of a user's is imported and made: what it imports of other frameworks is ours where theirs
    is missing. What was given out is told by `FINDER.take_used`. The modules are forgotten afterwards, so that a folder
    of such a name which comes later is found."""

    def __enter__(self) -> None:
        self._mine = install()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._mine:
            sys.meta_path.remove(FINDER)
            for name in [name for name, module in sys.modules.items() if getattr(module, "__loader__", None) is FINDER]:
                del sys.modules[name]


def get_component(path: str) -> Any:
    """What a dotted path leads to, for users' code that asks as the colocation benchmark's does."""
    from assay.names import load, quote

    found = load(path)
    if found is None:
        raise ValueError(f"nothing is at {quote(path)}")
    return found


FOLDER = Path(__file__).parent / "path"
_MOST_NOTES = 65536
"""Bytes of notes that are looked at: every process of a program adds its own."""


def with_stand_ins(environment: Mapping[str, str], notes: Path | None = None) -> dict[str, str]:
    """The variables, with the folder at the end of PYTHONPATH: what the user has put there stays, and comes first.
    `notes`: where the program's interpreter says what it used."""
    before = environment.get("PYTHONPATH", "")
    path = before if str(FOLDER) in before.split(os.pathsep) else f"{before}{os.pathsep if before else ''}{FOLDER}"
    return {**environment, "PYTHONPATH": path, **({} if notes is None else {NOTES: str(notes)})}


def read_stand_ins(notes: Path) -> tuple[str, ...]:
    try:
        lines = last_lines(notes, LOG, _MOST_NOTES)
    except (FileNotFoundError, Unreadable):
        return ()
    return tuple(sorted(set(lines) & {*STAND_INS, *PROGRAMS}))


# What is said of stand-ins.

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
