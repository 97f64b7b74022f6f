from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol

from assay.config.requirement import Requirement
from assay.record import Record, RequirementResult


class Past(Protocol):
    """What a session needs to know of earlier ones; handed to it by the command."""

    def worse_by(self, record: Record, metric: str, baseline: str | None) -> tuple[float, float] | None:
        """The baseline's value and the share by which the record is worse; None without a comparable record."""


class NoPast:
    def worse_by(self, record: Record, metric: str, baseline: str | None) -> tuple[float, float] | None:
        return None


def check(requirement: Requirement, record: Record, baseline: str | None, past: Past) -> RequirementResult:
    """NaN satisfies no bound, `1` is not `true`, a missing metric fails."""
    name = requirement.metric
    values = measured(record)
    bounds = requirement.model_fields_set
    expected = ", ".join(_bounds_in_words(requirement, bounds))
    if name not in values:
        return RequirementResult(
            name, expected, None, False, f"{name} is required to be {expected}, but was not measured"
        )
    actual = values[name]
    broken = _broken(requirement, bounds, actual)
    if not broken and "max_regression" in bounds:
        broken, expected = _regressed(requirement, record, baseline, past, expected)
    reason = f"{name} is {_shown(actual)}, required: {expected}" if broken else ""
    return RequirementResult(name, expected, actual, not broken, reason)


def measured(record: Record) -> dict[str, Any]:
    usage = {f"usage.{name}": value for name, value in record.usage.to_json().items()}
    return {**usage, **{name: metric.value for name, metric in record.metrics.items()}}


def _broken(requirement: Requirement, bounds: set[str], actual: Any) -> bool:
    if "exact_value" in bounds and not _same(requirement.exact_value, actual):
        return True
    number = actual if isinstance(actual, int | float) and not isinstance(actual, bool) else math.nan
    if "min_value" in bounds and not number >= _number(requirement.min_value):
        return True
    return "max_value" in bounds and not number <= _number(requirement.max_value)


def _regressed(
    requirement: Requirement, record: Record, baseline: str | None, past: Past, expected: str
) -> tuple[bool, str]:
    compared = past.worse_by(record, requirement.metric, baseline)
    if compared is None:
        return False, f"{expected} (no comparable record yet)"
    value, worse = compared
    expected = f"{expected}, which was {_shown(value)}"
    return not worse <= _number(requirement.max_regression), expected


def _same(expected: Any, actual: Any) -> bool:
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, Mapping | list):
        return type(expected) is type(actual) and expected == actual
    return bool(expected == actual)


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _bounds_in_words(requirement: Requirement, bounds: set[str]) -> list[str]:
    words = []
    if "exact_value" in bounds:
        words.append(f"= {_shown(requirement.exact_value)}")
    if "min_value" in bounds:
        words.append(f"≥ {_shown(requirement.min_value)}")
    if "max_value" in bounds:
        words.append(f"≤ {_shown(requirement.max_value)}")
    if "max_regression" in bounds:
        words.append(
            f"at most {_number(requirement.max_regression):.3g} (as a share) worse than the last comparable record"
        )
    return words


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
