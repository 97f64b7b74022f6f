from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.errors import UsageError
from assay.names import quoted, unknown
from assay.record import SessionFolder
from assay.report.run_folder import RunFolder

_FILES = {"both": "stdouterr.log", "stdout": "logs/stdout.log", "stderr": "logs/stderr.log"}


@dataclass(frozen=True)
class EntryLog:
    path: Path

    @classmethod
    def find(cls, folder: SessionFolder, entry: str, stream: str, repeat: int | None = None) -> EntryLog:
        """Of a run that has ended by its record; of one still running by where its log will be."""
        runs = [record for record in folder.records() if record.name == entry and repeat in (None, record.repeat)]
        places = [RunFolder(folder, record).path for record in reversed(runs)]
        root = folder.path.resolve()
        own = (root / entry).resolve()
        if own.is_relative_to(root) and own != root:
            places += [*sorted(own.glob(f"run-{repeat:02d}*" if repeat else "run-*"), reverse=True), own]
        for place in sorted(places, key=_changed, reverse=True) if repeat is None else places:
            if (place / _FILES[stream]).is_file():
                return cls(place / _FILES[stream])
        raise UsageError(_not_found(folder, entry, bool(runs)))


def _changed(place: Path) -> float:
    log = place / _FILES["both"]
    return log.stat().st_mtime if log.is_file() else 0.0


def _not_found(folder: SessionFolder, entry: str, known: bool) -> str:
    if known:
        return f"{quoted(entry)} of {folder.path} has no log: it was not started"
    names = list(dict.fromkeys([*folder.info().planned, *(record.name for record in folder.records())]))
    return unknown("entry", entry, names, of=str(folder.path))
