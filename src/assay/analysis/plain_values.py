"""Anybody's numbers as they come: lists, tuples, iterators, numpy, pandas, or one number alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from math import isfinite, nan
from typing import Any

from assay.errors import UsageError
from assay.record.metric import as_float

_MISSING = ("NAType", "NaTType")
"""What pandas writes where there is no value; it need not be installed here."""


def plain_values(given: Any, name: str) -> list[Any]:
    """One value a run, as Python's own types; `name` is the argument's, for the message."""
    if isinstance(given, str | bytes | bool | int | float) or getattr(given, "ndim", None) == 0:
        return [_own(given)]
    if not isinstance(given, Iterable):
        raise UsageError(f"{name} is {_kind(given)}: give a sequence, one value a run")
    if isinstance(given, Mapping | Set):
        raise UsageError(f"{name} is {_kind(given)}, whose values have no order: give a list, one value a run")
    return [_own(value) for value in given]


def plain_numbers(given: Any, name: str) -> list[float]:
    """NaN where a value is missing."""
    return [_number(value, f"{name}[{at}]") for at, value in enumerate(plain_values(given, name))]


def first_not_finite(values: Iterable[float], name: str) -> str:
    return next((f"{name}[{at}] is {value}" for at, value in enumerate(values) if not isfinite(value)), "")


def _own(value: Any) -> Any:
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "ndim", None) == 0 else value


def _number(value: Any, where: str) -> float:
    if value is None or type(value).__name__ in _MISSING:
        return nan
    if not isinstance(value, str | bytes | bytearray):
        try:
            return as_float(value)
        except (TypeError, ValueError):
            pass
    raise UsageError(f"{where} is {_kind(value)}, not a number: give one number a run")


def _kind(value: Any) -> str:
    text = repr(value)
    return f"{text if len(text) <= 40 else text[:40] + '…'} ({type(value).__name__})"
