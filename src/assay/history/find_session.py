"""What a user calls a session, found: `latest`, `latest~1`, a name or its beginning, a folder, a git revision."""

from __future__ import annotations

import os
import re
import subprocess
from contextlib import suppress
from pathlib import Path

from assay.errors import DataError, UsageError
from assay.history.rows import microseconds
from assay.record import SessionFolder
from assay.record.session_folder import BASELINES, SessionKind


class SessionNotFound(UsageError):
    """There is none of that name (yet)."""


def session_folders(results_dir: Path) -> list[SessionFolder]:
    """Sessions of every kind, newest first by when they were started. One whose session.json is damaged is left out: it
    hides no other."""
    return [folder for folder, _ in _with_kinds(results_dir)]


def ordinary_sessions(results_dir: Path) -> list[SessionFolder]:
    """What `latest` counts: no experiment, no rerun, nothing imported. Newest first."""
    return [folder for folder, kind in _with_kinds(results_dir) if kind == "run"]


def _with_kinds(results_dir: Path) -> list[tuple[SessionFolder, SessionKind]]:
    if not os.path.isdir(results_dir):
        return []
    found = []
    for path in results_dir.iterdir():
        if SessionFolder.is_one(path):
            with suppress(DataError):
                info = SessionFolder(path).info()
                found.append((microseconds(info.started_at), path.name, path, info.kind))
    return [(SessionFolder(path), kind) for _, _, path, kind in sorted(found, reverse=True)]


def find_session(word: str, results_dir: Path) -> SessionFolder:
    """Raises `UsageError` that says what there is."""
    for path in (Path(word), results_dir / word):
        if SessionFolder.is_one(path):
            return SessionFolder(path)
    back = re.fullmatch(r"latest(?:~(\d+))?", word)
    if back:
        return _latest(int(back[1] or 0), results_dir)
    folders = session_folders(results_dir)
    begins = [folder for folder in folders if folder.path.name.startswith(word)]
    if len(begins) == 1:
        return begins[0]
    if begins:
        names = ", ".join(folder.path.name for folder in begins[:4])
        raise UsageError(f"{word!r} is the beginning of {len(begins)} sessions ({names} …): write more of it")
    by_commit = _by_revision(word, folders)
    if by_commit:
        return by_commit
    raise SessionNotFound(_not_found(word, folders, results_dir))


def _latest(back: int, results_dir: Path) -> SessionFolder:
    folders = ordinary_sessions(results_dir)
    if back < len(folders):
        return folders[back]
    others = session_folders(results_dir)[: 0 if folders else 1]
    if others:
        newest = others[0].info()
        raise SessionNotFound(
            f"there is no session of `assay run` in {results_dir}, which is what `latest` means; "
            f"name another one: the newest is {newest.name} (kind {newest.kind})"
        )
    if not folders:
        raise SessionNotFound(
            f"there is no session in {results_dir}: run one, or name another folder with --results-dir"
        )
    raise SessionNotFound(
        f"{results_dir} has only {len(folders)} session(s) of `assay run`: latest~{back} is not among them"
    )


def _by_revision(word: str, folders: list[SessionFolder]) -> SessionFolder | None:
    commit = _commit(word)
    if commit is None:
        return None
    # Of an experiment it says only which commit was checked out, not which ones it ran.
    ordinary = [folder for folder in folders if folder.info().kind in BASELINES]
    for folder in ordinary:
        with suppress(DataError):  # one whose env.json is damaged hides no other
            if (folder.environment().git_commit or "").startswith(commit):
                return folder
    return None


def _commit(word: str) -> str | None:
    """A branch or tag is asked of git; digits are taken as they are, so that it works outside the repository too."""
    if word.startswith("-") or "\0" in word:
        return None
    try:
        asked = subprocess.run(
            ["git", "rev-parse", "--verify", "--quiet", f"{word}^{{commit}}"],
            capture_output=True, text=True, timeout=10, check=False,
        )  # fmt: skip
        if asked.returncode == 0:
            return asked.stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        pass
    return word if re.fullmatch(r"[0-9a-f]{7,40}", word) else None


def _not_found(word: str, folders: list[SessionFolder], results_dir: Path) -> str:
    if not folders:
        return f"there is no session {word!r}: {results_dir} holds no sessions (name another folder with --results-dir)"
    names = ", ".join(folder.path.name for folder in folders[:4])
    return f"there is no session {word!r} in {results_dir}, and no session of such a git revision; the newest: {names}"
