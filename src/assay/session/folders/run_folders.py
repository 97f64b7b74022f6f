"""Runs that a session folder shows to have been started, whatever the configuration says by now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.config.entries.entry_name import is_name

_RUN = re.compile(r"(run|warmup)-\d{2,6}")
_RETRY = re.compile(r"retry-(\d{1,4})")


@dataclass(frozen=True)
class StartedFolder:
    """The folder of one run, made when it was started."""

    entry: str
    key: str
    """Key of the run, see `Run.key`."""
    started: float
    """When its logs were made, in seconds since 1970."""


def find_started_runs(session: Path) -> list[StartedFolder]:
    """Folders of started runs. Links are not followed: what they lead to is no run of this session."""
    found = []
    for entry in _folders(session):
        if not is_name(entry.name):
            continue
        runs = [(entry, f"{entry.name}/run-01")]
        runs += [(folder, f"{entry.name}/{folder.name}") for folder in _folders(entry) if _RUN.fullmatch(folder.name)]
        for folder, key in runs:
            retries = [(one, _RETRY.fullmatch(one.name)) for one in _folders(folder)]
            tried = [(one, f"{key}-retry-{retry[1]}") for one, retry in retries if retry]
            for path, name in [(folder, key), *tried]:
                logs = path / "logs"
                if logs.is_dir() and not logs.is_symlink():
                    found.append(StartedFolder(entry.name, name, logs.stat().st_mtime))
    return found


def _folders(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            yield path
