"""What a person says on the first screen: that a failure or a regression has been looked at."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import parse_qs

from assay.errors import UsageError
from assay.report.dashboard.asked import NotThere
from assay.report.dashboard.kept.acknowledged import (
    LONGEST_NOTE,
    MATTERS,
    Acknowledgement,
    acknowledge,
    take_back,
)
from assay.report.dashboard.store import Store


def is_own(headers: Mapping[str, str]) -> bool:
    """Whether a page of the dashboard itself sent it. A page elsewhere can have a browser send a form here, but not
    without saying where it is from."""
    origin = headers.get("origin")
    if origin is not None:
        return origin.partition("://")[2] == headers.get("host")
    return headers.get("sec-fetch-site") == "same-origin"


def acknowledge_asked(store: Store, body: bytes) -> str:
    """Where to go back to."""
    try:
        fields = {name: values[0] for name, values in parse_qs(body.decode()).items()}
    except (UnicodeDecodeError, ValueError):
        raise UsageError("the form cannot be read") from None
    matter = next((known for known in MATTERS if known == fields.get("matter")), None)
    entry, machine = fields.get("entry", ""), fields.get("machine", "")
    if matter is None:
        raise UsageError(f"matter must be one of {', '.join(MATTERS)}, not {fields.get('matter', '')!r}")
    known = [one for one in store.board().concerns if (one.matter, one.entry, one.machine) == (matter, entry, machine)]
    if not known:
        raise NotThere(f"nothing of entry {entry!r} on {machine!r} has {matter}")
    try:
        if fields.get("back_to_open"):
            take_back(store.results_dir, matter, entry, machine)
        else:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            note = " ".join(fields.get("note", "").split())[:LONGEST_NOTE]
            acknowledge(store.results_dir, Acknowledgement(matter, entry, machine, _newest(store), now, note))
    except OSError as error:
        raise UsageError(f"{store.results_dir} cannot be written: {error.strerror}") from None
    view = fields.get("view", "")
    return f"/?{view}" if view else "/"


def _newest(store: Store) -> str:
    with store.history() as history:
        runs = history.runs(limit=1) if history else []
    if not runs:
        raise NotThere("nothing has been recorded yet")
    return runs[0].started_at
