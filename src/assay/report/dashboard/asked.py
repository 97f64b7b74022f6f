"""What an address asks for, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.errors import UsageError
from assay.history import History
from assay.report.dashboard.store import Opened, Store

PAGE = 50
Asked = Mapping[str, str]


class NotThere(UsageError):
    """What an address asks for does not exist; answered with 404."""


@dataclass(frozen=True)
class Listed:
    """One page of a long list."""

    rows: tuple[Any, ...]
    page: int
    more: bool


def open_session(store: Store, history: History | None, name: str) -> Opened:
    opened = store.session(name, history)
    if opened is None:
        raise NotThere(f"there is no session {name!r}")
    return opened


def number_asked(asked: Asked, name: str) -> int:
    written = asked.get(name, "0")
    if not written.isdecimal() or len(written) > 9:
        raise UsageError(f"{name} must be a number, not {written!r}")
    return int(written)


def commit_asked(asked: Asked) -> str | None:
    written = asked.get("commit", "").lower()
    if not all(char in "0123456789abcdef" for char in written):
        raise UsageError(f"{written!r} is not the beginning of a commit's id")
    return written or None
