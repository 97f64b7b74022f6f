from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from assay.untrusted.read_limit import SESSION
from assay.untrusted.text_file import read_text
from assay.untrusted.writing import create_exclusive

_WRITTEN_WITHIN_S = 2.0


class Claims:
    """Who runs what: files `<name>.1`, `<name>.2` …, each made by one process alone; the highest number holds.

    Nothing is ever deleted. Who finds a holder dead makes the next number, which only one process can, so that nobody
    takes a claim away from somebody who has just taken it over.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def holder(self, name: str) -> str | None:
        number = self._highest(name)
        return self._read(name, number) if number else None

    def take(self, name: str, job: str, may_replace: Callable[[str], bool]) -> str:
        """Who holds it now: `job` if nobody did, or if the holder may be replaced."""
        self._folder.mkdir(parents=True, exist_ok=True)
        while True:
            number = self._highest(name)
            holder = self._read(name, number) if number else None
            if holder is not None and (holder == job or not may_replace(holder)):
                return holder
            if create_exclusive(self._path(name, number + 1), job):
                return job

    def _highest(self, name: str) -> int:
        try:
            names = [path.name for path in self._folder.iterdir()]
        except FileNotFoundError:
            return 0
        split = (found.rpartition(".") for found in names)
        return max((int(number) for start, _, number in split if start == name and number.isdigit()), default=0)

    def _read(self, name: str, number: int) -> str:
        """Who made a claim. Empty only where there are no hard links: its writer has just made it, or was killed
        then."""
        deadline = time.monotonic() + _WRITTEN_WITHIN_S
        while True:
            text = read_text(self._path(name, number), SESSION).strip()
            if text or time.monotonic() > deadline:
                return text
            time.sleep(0.05)

    def _path(self, name: str, number: int) -> Path:
        return self._folder / f"{name}.{number}"
