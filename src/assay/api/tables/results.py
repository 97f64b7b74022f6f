from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.api.results_dir import sessions_folder
from assay.api.tables.records import Records
from assay.history.sessions import find_session, ordinary_sessions, session_folders


def results(
    session: str | Path | Sequence[str | Path] | None = None,
    *,
    entry: str | None = None,
    last: int | None = None,
    everything: bool = False,
    results_dir: str | Path | None = None,
) -> Records:
    """The records of sessions, oldest first.

    `session`: `latest`, `latest~1`, a name, a folder, a git revision, or several of them; without it all sessions in
    `results_dir` (default: $ASSAY_RESULTS_DIR, otherwise where the last run from this folder wrote, otherwise
    ./results) of whatever kind, or the `last` so many ordinary ones (those that `latest` counts). Warm-ups and attempts
    that were tried again are left out unless `everything` is asked for.
    """
    where = sessions_folder(results_dir)
    if session is None:
        folders = (session_folders(where) if last is None else ordinary_sessions(where)[:last])[::-1]
    else:
        words = [session] if isinstance(session, str | Path) else session
        folders = [find_session(str(word), where) for word in words]
    found = (record for folder in folders for record in folder.records())
    kept = (record for record in found if (everything or record.counts) and (entry is None or record.name == entry))
    parent = folders[-1].path.absolute().parent if folders else where
    return Records(kept, parent, [folder.path for folder in folders])
