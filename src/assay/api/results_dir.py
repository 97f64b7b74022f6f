"""Where the last run from a working folder wrote, so that `assay show` finds what the YAML put elsewhere.

Kept for each user in `$XDG_STATE_HOME/assay/results_dirs.json`, only where it is not `./results`. It is a convenience:
a home that cannot be read or written costs nobody a run.
"""

from __future__ import annotations

import os
from pathlib import Path

from assay.errors import AssayError
from assay.files.json_text import encode, read_json
from assay.files.reading import SESSION
from assay.files.writing import write_atomic

USUAL = "results"
MOST_KEPT = 200
"""Working folders; the one that ran longest ago is forgotten first."""


def remember_results_dir(folder: Path) -> None:
    here = os.getcwd()
    try:
        known = _read_known()
        before = known.pop(here, None)
        if folder.absolute() != Path(here) / USUAL:
            known[here] = str(folder.absolute())
        elif before is None:
            return
        kept = dict(list(known.items())[-MOST_KEPT:])
        _file().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomic(_file(), encode(kept, indent=2))
    except (OSError, RuntimeError, ValueError):  # RuntimeError: no home; ValueError: a path that is no text
        return


def last_results_dir() -> Path | None:
    """None where the last run from here wrote to `./results`, where none is known, or where its folder is gone."""
    try:
        known = _read_known().get(os.getcwd())
        return Path(known) if known is not None and Path(known).is_dir() else None
    except (OSError, RuntimeError):
        return None


def _read_known() -> dict[str, str]:
    try:
        written = read_json(_file(), SESSION, own=True)
    except (OSError, AssayError):
        return {}
    if not isinstance(written, dict):
        return {}
    return {place: folder for place, folder in written.items() if isinstance(folder, str)}


def _file() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "assay" / "results_dirs.json"


def results_folder(given: Path | str | None) -> Path:
    """Where a command without YAML writes its session, and where sessions are deleted: as given, otherwise
    $ASSAY_RESULTS_DIR, otherwise ./results."""
    return Path(given or os.environ.get("ASSAY_RESULTS_DIR") or USUAL)


def sessions_folder(given: Path | str | None) -> Path:
    """Where sessions are looked for: the same, but before ./results where the last run from this folder wrote."""
    return Path(given or os.environ.get("ASSAY_RESULTS_DIR") or last_results_dir() or USUAL)
