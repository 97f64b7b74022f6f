from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from assay.capture.interpreter import AskedInterpreter, ask_interpreter

_DECIDE = ("PATH", "PYTHONHOME", "PYTHONPATH", "PYTHONUSERBASE", "VIRTUAL_ENV")


class Interpreters:
    """The Pythons that entries of a session run with, each asked once what it is."""

    def __init__(self) -> None:
        self._asked: dict[tuple[str | None, ...], AskedInterpreter] = {}

    def ask(self, path: str, environment: Mapping[str, str], folder: Path) -> AskedInterpreter:
        key = (path, str(folder), *(environment.get(name) for name in _DECIDE))
        if key not in self._asked:
            self._asked[key] = ask_interpreter(path, environment, folder)
        return self._asked[key]
