from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from assay.errors import UsageError
from assay.history.foreign import import_file
from assay.record import SessionFolder


@dataclass(frozen=True)
class ImportSource:
    path: Path
    folder: Callable[[], SessionFolder]
    """Reads or makes the folder; may refuse with a `DataError`, which concerns this source alone."""


@dataclass(frozen=True)
class Import:
    results_dir: Path

    def sources(self, paths: Sequence[Path]) -> Iterator[ImportSource]:
        """Each session, folder of sessions or file of another tool that `paths` name; without any, all sessions."""
        for path in paths or [self.results_dir]:
            if SessionFolder.is_one(path):
                yield _as_it_is(path)
            elif os.path.isdir(path):
                # By name and not by what is in them: one that is damaged must be told, not passed over.
                found = sorted(inside for inside in path.iterdir() if SessionFolder.is_one(inside))
                if not found:
                    raise UsageError(f"{path} holds no session folder")
                yield from map(_as_it_is, found)
            else:
                yield ImportSource(path, partial(import_file, path, self.results_dir))


def _as_it_is(path: Path) -> ImportSource:
    return ImportSource(path, partial(SessionFolder, path))
