from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from assay.errors import DataError
from assay.names import list_names, quote

_NEEDED: Final[Any] = object()
_KINDS = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}
_LARGEST = 2**63 - 1
"""Largest whole number that a database keeps."""


class Written:
    """A JSON object that others may have changed, taken field by field.

    What is not of its kind is refused with a `DataError` that begins with the field's name, `usage.cpu_s is text, not a
    number`: whoever knows the file and the line puts them in front. `null` counts as missing. A field without a default
    must be there.
    """

    def __init__(self, values: Any, inside: str = "") -> None:
        if not isinstance(values, Mapping):
            raise DataError(f"{inside or 'it'} is {_kind(values)}, not an object")
        self.values: Mapping[str, Any] = values
        self._inside = inside

    def __contains__(self, key: str) -> bool:
        return self.values.get(key) is not None

    def text(self, key: str, default: str = _NEEDED) -> str:
        value = self._value(key, default)
        return value if isinstance(value, str) else self._refuse(key, value, "text")

    def text_or_none(self, key: str) -> str | None:
        return self.text(key) if key in self else None

    def moment(self, key: str) -> str:
        """A time in ISO 8601 that is a time in UTC, too; without a zone it is taken as UTC."""
        from datetime import UTC, datetime

        written = self.text(key)
        try:
            at = datetime.fromisoformat(written)
            (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            raise DataError(f"{self._name(key)} is {_short(written)}, not a time in ISO 8601") from None
        return written if at.tzinfo else at.replace(tzinfo=UTC).isoformat()

    def moment_or_none(self, key: str) -> str | None:
        return self.moment(key) if key in self else None

    def number(self, key: str, default: float = _NEEDED) -> float:
        """A finite one."""
        value = self._value(key, default)
        return self._finite(self._name(key), value)

    def number_or_none(self, key: str) -> float | None:
        return self.number(key) if key in self else None

    def whole(self, key: str, default: int = _NEEDED) -> int:
        value = self._value(key, default)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            return int(self._refuse(key, value, "a whole number"))
        if abs(value) > _LARGEST:
            raise DataError(f"{self._name(key)} is a number of more than 64 bits")
        return value

    def whole_or_none(self, key: str) -> int | None:
        return self.whole(key) if key in self else None

    def flag(self, key: str, default: bool = _NEEDED) -> bool:
        value = self._value(key, default)
        return value if isinstance(value, bool) else bool(self._refuse(key, value, "true or false"))

    def flag_or_none(self, key: str) -> bool | None:
        return self.flag(key) if key in self else None

    def one_of(self, key: str, known: tuple[str, ...], default: str = _NEEDED) -> str:
        value = self.text(key, default)
        if value not in known:
            raise DataError(f"{self._name(key)} is {_short(value)}, which is none of {list_names(known)}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        for at, value in enumerate(self._list(key)):
            if not isinstance(value, str):
                raise DataError(f"{self._name(key)}[{at}] is {_kind(value)}, not text")
        return tuple(self._list(key))

    def object(self, key: str) -> Written:
        """Empty where it is missing."""
        return Written(self._value(key, {}), self._name(key))

    def objects(self, key: str) -> tuple[Written, ...]:
        return tuple(Written(value, f"{self._name(key)}[{at}]") for at, value in enumerate(self._list(key)))

    def mapping(self, key: str) -> dict[str, Any]:
        """An object whose values may be anything; empty where it is missing."""
        return dict(self.object(key).values)

    def text_mapping(self, key: str) -> dict[str, str]:
        inner = self.object(key)
        return {name: inner.text(name) for name in inner.values}

    def number_mapping(self, key: str) -> dict[str, float]:
        inner = self.object(key)
        return {name: inner.number(name) for name in inner.values}

    def _list(self, key: str) -> list[Any] | tuple[Any, ...]:
        value = self._value(key, [])
        return value if isinstance(value, list | tuple) else self._refuse(key, value, "a list")

    def _finite(self, name: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise DataError(f"{name} is {_kind(value)}, not a number")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise DataError(f"{name} is not a finite number")
        return number

    def _value(self, key: str, default: Any) -> Any:
        value = self.values.get(key)
        if value is not None:
            return value
        if default is _NEEDED:
            raise DataError(f"{self._name(key)} is missing")
        return default

    def _refuse(self, key: str, value: Any, wanted: str) -> Any:
        raise DataError(f"{self._name(key)} is {_kind(value)}, not {wanted}")

    def _name(self, key: str) -> str:
        """Keys come from the file, too: what cannot be printed is escaped."""
        shown = quote(key)[1:-1]
        shown = shown if len(shown) <= 60 else f"{shown[:60]}…"
        return f"{self._inside}.{shown}" if self._inside else shown


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    return next((name for kind, name in _KINDS.items() if isinstance(value, kind)), type(value).__name__)


def _short(text: str) -> str:
    return quote(text if len(text) <= 60 else f"{text[:60]}…")
