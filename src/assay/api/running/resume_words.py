from __future__ import annotations

import shlex
from pathlib import Path

from assay.api.results_dir import sessions_folder
from assay.errors import AssayError
from assay.history.sessions import find_session
from assay.record import SessionFolder


def resume_words(folder: SessionFolder) -> str:
    """The command that goes on with a session: `latest` where that is the one it finds, otherwise its name, and where
    to look for it if that is not where sessions are looked for."""
    for word, where in (("latest", None), (folder.path.name, None), (folder.path.name, folder.path.parent)):
        if _finds(word, where, folder.path):
            place = f" --results-dir {shlex.quote(str(where))}" if where is not None else ""
            return f"assay run --resume {word}{place}"
    return f"assay run --resume {shlex.quote(str(folder.path))}"


def _finds(word: str, where: Path | None, path: Path) -> bool:
    try:
        return find_session(word, sessions_folder(where)).path.resolve() == path.resolve()
    except (AssayError, OSError):
        return False
