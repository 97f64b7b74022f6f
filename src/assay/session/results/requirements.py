from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assay.record import Record, RequirementResult

if TYPE_CHECKING:
    from assay.config.entry_config import Requirement


def check(requirement: Requirement, record: Record, baseline: str | None) -> RequirementResult:
    """Checks one requirement: NaN satisfies no bound, `1` is not `true`, a missing metric fails.

    `max_regression` is only noted: the session is judged by it when all of its runs are over.
    """
    name = requirement.metric
    values = collect_values(record)
    bounds = requirement.model_fields_set
    expected = ", ".join(bounds_in_words(requirement, baseline))
    if name not in values:
        return RequirementResult(
            name, expected, None, False, f"{name} is required to be {expected}, but was not measured"
        )
    actual = values[name]
    broken = _is_broken(requirement, bounds, actual)
    reason = f"{name} is {_format(actual)}, required: {expected}" if broken else ""
    gate = requirement.max_regression
    return RequirementResult(name, expected, actual, not broken, reason, gate, baseline if gate is not None else None)


def collect_values(record: Record) -> dict[str, Any]:
    usage = {f"usage.{name}": value for name, value in record.usage.to_json().items()}
    return {**usage, **{name: metric.value for name, metric in record.metrics.items()}}


def _is_broken(requirement: Requirement, bounds: set[str], actual: Any) -> bool:
    if "exact_value" in bounds and not _same(requirement.exact_value, actual):
        return True
    number = actual if isinstance(actual, int | float) and not isinstance(actual, bool) else math.nan
    if "min_value" in bounds and not number >= _number(requirement.min_value):
        return True
    return "max_value" in bounds and not number <= _number(requirement.max_value)


def _same(expected: Any, actual: Any) -> bool:
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, Mapping | list):
        return type(expected) is type(actual) and expected == actual
    return bool(expected == actual)


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def bounds_in_words(requirement: Requirement, baseline: str | None = None) -> list[str]:
    """`≥ 1`, `at most 1% worse than the recent level`."""
    bounds = requirement.model_fields_set
    words = []
    if "exact_value" in bounds:
        words.append(f"= {_format(requirement.exact_value)}")
    if "min_value" in bounds:
        words.append(f"≥ {_format(requirement.min_value)}")
    if "max_value" in bounds:
        words.append(f"≤ {_format(requirement.max_value)}")
    if "max_regression" in bounds:
        than = "the recent level" if baseline is None else f"session {baseline}"
        words.append(f"at most {_number(requirement.max_regression) * 100:.3g}% worse than {than}")
    return words


def _format(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
