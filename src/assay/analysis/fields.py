from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from assay.record.metric import as_float

T = TypeVar("T")

_LONGEST_NAME = 200
_LONGEST_SENTENCE = 1000


@dataclass(frozen=True)
class Fields:
    """One object of a file that others wrote. A field that is missing or of another kind is as if it were not there."""

    written: Mapping[str, Any]

    @classmethod
    def of(cls, written: object) -> Fields:
        return cls(written if isinstance(written, Mapping) else {})

    def text(self, name: str) -> str:
        return _text(self.written.get(name), _LONGEST_NAME)

    def sentence(self, name: str) -> str:
        return _text(self.written.get(name), _LONGEST_SENTENCE)

    def texts(self, name: str, most: int) -> tuple[str, ...]:
        return tuple(_text(item, _LONGEST_NAME) for item in self.list_of(name)[:most] if isinstance(item, str))

    def sentences(self, name: str, most: int) -> tuple[str, ...]:
        return tuple(_text(item, _LONGEST_SENTENCE) for item in self.list_of(name)[:most] if isinstance(item, str))

    def number(self, name: str) -> float | None:
        return finite(self.written.get(name))

    def whole(self, name: str) -> int | None:
        """A number without a fraction, as ids are."""
        value = self.number(name)
        return int(value) if value is not None and value.is_integer() else None

    def at_least_0(self, name: str) -> float | None:
        value = self.number(name)
        return value if value is not None and value >= 0 else None

    def seconds(self, name: str) -> float | None:
        """Seconds, from a field that is in microseconds."""
        value = self.at_least_0(name)
        return None if value is None else value / 1e6

    def count(self, name: str) -> int:
        value = self.at_least_0(name)
        return 0 if value is None else int(value)

    def flag(self, name: str) -> bool | None:
        value = self.written.get(name)
        return value if isinstance(value, bool) else None

    def inner(self, name: str) -> Fields:
        return Fields.of(self.written.get(name))

    def list_of(self, name: str) -> list[Any]:
        value = self.written.get(name)
        return value if isinstance(value, list) else []

    def each(self, name: str, most: int, read: Callable[[Fields], T | None]) -> tuple[T, ...]:
        """What `read` makes of the first `most` objects in a list; what it makes nothing of is left out."""
        made = (read(Fields(item)) for item in self.list_of(name)[:most] if isinstance(item, Mapping))
        return tuple(one for one in made if one is not None)

    def numbers(self, name: str, most: int) -> tuple[float | None, ...]:
        return tuple(finite(item) for item in self.list_of(name)[:most])


def finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    number = as_float(value)
    return number if math.isfinite(number) else None


def _text(value: object, longest: int) -> str:
    if not isinstance(value, str):
        return ""
    return value if len(value) <= longest else value[: longest - 1] + "…"
