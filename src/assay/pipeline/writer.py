from __future__ import annotations

import os
import shutil
from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

from assay.pipeline.source import Split
from assay.pipeline.stage import Stage

In = TypeVar("In")
Result = TypeVar("Result")


class Collector(Stage[In, None], Generic[In, Result]):
    """The last stage of a pipeline: takes every batch of a split and gives one result for the split.

    Only that result travels back to the driver, so the driver's memory does not grow with the data.
    """

    @abstractmethod
    def begin(self, split: Split) -> None: ...

    @abstractmethod
    def finish(self) -> Result: ...

    def abandon(self) -> None:
        """The split failed: forget what was gathered and remove what was half written."""


@dataclass(frozen=True)
class Part:
    """A finished part file. `summary` is what a writer counted on the way, if it counts anything."""

    path: str
    rows: int
    size: int
    summary: Any = None


class Writer(Collector[In, Part]):
    """One part file per split, named by the split: written aside, then renamed, so that a part is whole or absent.

    A split that is done twice (its worker died after the rename) writes the same bytes to the same name.
    """

    name = "writer"

    def __init__(self, folder: str | Path, suffix: str) -> None:
        self.folder = str(folder)
        self.suffix = suffix
        self._out: BinaryIO | None = None
        self._aside: Path | None = None
        self._rows = 0

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_out": None}

    @abstractmethod
    def write(self, data: In, out: BinaryIO) -> int:
        """Appends a batch; returns its rows."""

    def summary(self) -> Any:
        return None

    def begin(self, split: Split) -> None:
        Path(self.folder).mkdir(parents=True, exist_ok=True)
        self._path = Path(self.folder) / f"part-{split.index:05d}{self.suffix}"
        self._aside = self._path.with_name(f".{self._path.name}.aside") / f"{os.getpid()}-{os.urandom(4).hex()}"
        self._aside.parent.mkdir(exist_ok=True)
        self._out = self._aside.open("wb", buffering=0)
        self._rows = 0

    def process(self, data: In) -> None:
        assert self._out is not None, "begin() comes first"
        self._rows += self.write(data, self._out)

    def finish(self) -> Part:
        assert self._out is not None, "begin() comes first"
        assert self._aside is not None
        size = self._out.tell()
        self._out.close()
        self._out = None
        self._rename(self._aside)
        return Part(str(self._path), self._rows, size, self.summary())

    def _rename(self, aside: Path) -> None:
        try:
            aside.replace(self._path)
        except FileNotFoundError:
            # Another worker, thought dead, did the same split, finished it first and cleared up behind itself.
            if not self._path.exists():
                raise
        # With it goes what workers that died on this split had begun.
        shutil.rmtree(aside.parent, ignore_errors=True)

    def abandon(self) -> None:
        if self._out is not None:
            self._out.close()
            self._out = None
        if self._aside is not None:
            # Named before it is opened: an interrupt may come between the two.
            shutil.rmtree(self._aside.parent, ignore_errors=True)
