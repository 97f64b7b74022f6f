from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.errors import UsageError
from assay.names import quote, unknown
from assay.record import Outcome, Record, SessionFolder
from assay.report.run_folder import RunFolder
from assay.untrusted.inside import inside

_RAY = "logs/ray_startup.log"
_FILES = {
    "both": "stdouterr.log",
    "stdout": "logs/stdout.log",
    "stderr": "logs/stderr.log",
    "ray": _RAY,
    "service": "logs/service.log",
}


@dataclass(frozen=True)
class EntryLog:
    path: Path
    note: str = ""
    """Whose log it is, where that is not the entry's own."""

    @classmethod
    def find(cls, folder: SessionFolder, entry: str, stream: str, repeat: int | None = None) -> EntryLog:
        """The log of a run: by its record if it has ended, by where its log will be if it still runs."""
        runs = [record for record in folder.records() if record.name == entry and repeat in (None, record.repeat)]
        kept = [RunFolder(folder, record).file("service_log") for record in reversed(runs)]
        if stream == "service" and any(kept):  # a service that is kept has its log where it was started
            return cls(next(path for path in kept if path is not None))
        places = [RunFolder(folder, record).path for record in reversed(runs)]
        root = folder.path.resolve()
        own = inside(root, entry)
        if own is not None:
            places += [*sorted(own.glob(f"run-{repeat:02d}*" if repeat else "run-*"), reverse=True), own]
        for place in sorted(places, key=_modification_time, reverse=True) if repeat is None else places:
            if (place / _FILES[stream]).is_file():
                return cls(place / _FILES[stream])
        last = runs[-1] if runs else None
        if last is not None and last.outcome is Outcome.NOT_STARTED and (places[0] / _RAY).is_file():
            return cls(places[0] / _RAY, f"{quote(entry)} was not started; this is the log of its Ray cluster's start")
        raise UsageError(_not_found(folder, entry, stream, last))


def _modification_time(place: Path) -> float:
    log = place / _FILES["both"]
    return log.stat().st_mtime if log.is_file() else 0.0


def _not_found(folder: SessionFolder, entry: str, stream: str, last: Record | None) -> str:
    where = f"{quote(entry)} of {folder.path}"
    if last is not None and stream == "ray":
        return f"{where} has no log of a Ray cluster's start: none was started for it"
    if last is not None and stream == "service":
        return f"{where} has no log of a service: none was started for it"
    if last is not None:
        return f"{where} has no log: it was not started: {'; '.join(last.reasons) or last.outcome}"
    planned = folder.info().planned
    if entry in planned:
        return f"{where} has no log yet: it has not started"
    names = list(dict.fromkeys([*planned, *(record.name for record in folder.records())]))
    return unknown("entry", entry, names, of=str(folder.path))
