from __future__ import annotations

from datetime import datetime
from pathlib import Path

from assay.config.entries.entry_name import check_name
from assay.errors import UsageError

DEFAULT = "nightly-run"


def session_name(given: str | None, older_form: bool, now: datetime, results_dir: Path) -> str:
    """Newer form: the time is appended, and a number if need be. Older: as given, refused if the folder exists."""
    if given is not None:
        try:
            given = check_name(given)
        except ValueError as error:
            raise UsageError(f"--session-name {given!r}: {error}") from None
    if given is not None and older_form:
        if (results_dir / given).exists():
            raise UsageError(f"--session-name {given}: {results_dir / given} exists already; choose another name")
        return given
    stamp = now.strftime("%Y%m%d-%H%M%S" if older_form else "_%Y-%m-%d__%H-%M-%S")
    separator = "-" if older_form else "_"
    name = candidate = f"{given or DEFAULT}{separator}{stamp}"
    number = 2
    while (results_dir / candidate).exists():
        candidate = f"{name}-{number}"
        number += 1
    return candidate
