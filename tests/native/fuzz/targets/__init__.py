"""The targets by name; each is a C file and a Python file here."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from tests.native.fuzz.target import Target

NAMES = tuple(sorted(path.stem for path in Path(__file__).parent.glob("*.c")))


def load(name: str) -> Target:
    target: Target = import_module(f"{__name__}.{name}").TARGET
    return target
