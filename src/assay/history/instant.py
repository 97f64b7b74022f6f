"""Times as the database keeps them: whole microseconds since 1970, UTC. Text in several ISO forms does not sort."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from assay.errors import DataError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(written: str) -> int:
    try:
        parsed = datetime.fromisoformat(written)
    except ValueError:
        raise DataError(f"{written!r} is not a time in ISO 8601") from None
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=UTC)
    return (parsed - _EPOCH) // timedelta(microseconds=1)


def iso(at: int) -> str:
    return (_EPOCH + timedelta(microseconds=at)).isoformat()
