from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from assay.errors import DataError
from assay.record.writing.shortened import shorten

SessionKind = Literal["run", "ab", "calibrate", "confirm", "rerun", "profile", "import"]
KINDS: tuple[SessionKind, ...] = get_args(SessionKind)

EXPERIMENTS: tuple[SessionKind, ...] = ("ab", "calibrate", "confirm", "profile")
"""Sessions whose runs answer one question: no trend and no baseline is made of them."""
BASELINES: tuple[SessionKind, ...] = ("run", "import")
"""Sessions that a later one may be held against. A rerun is one run of one entry, mostly of one that looked odd."""


def session_kind(written: Mapping[str, Any]) -> SessionKind:
    """What `session.json` says; for files from before it said so, what follows from the command that wrote them."""
    said = written.get("kind")
    if said is None:
        return _infer_kind(written)
    for kind in KINDS:
        if said == kind:
            return kind
    raise DataError(f"has kind {shorten(repr(said), 80)}, which is none of {', '.join(KINDS)}")


def _infer_kind(written: Mapping[str, Any]) -> SessionKind:
    command = written.get("command")
    word = command[1] if isinstance(command, list | tuple) and len(command) > 1 else None
    if word == "ab":
        return "confirm" if str(written.get("name")).startswith("confirm-") else "ab"
    if word == "calibrate":
        return "calibrate"
    reason = str(written.get("reason") or "")
    if word == "rerun" and reason.startswith("rerun of "):
        return "rerun"
    # Only what was read from another tool's file was started by no command and no process.
    if reason.startswith("imported from ") and not command and written.get("pid") is None:
        return "import"
    return "run"
